//! The world of the model: an API server with three objects and their root.
//!
//! Uids and resource versions are numbers that are never used twice for one object; only whether two
//! of them are equal matters, to the commit and to the server alike.

use mainstay_engine::commit::Operation;

/// Objects in a world; further places of a smaller scenario stay empty.
pub(crate) const PLACES: usize = 3;

/// Whose owner reference an object carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Holder {
    Ours,
    Nobody,
    Another,
    /// Nobody's, but it carries our mark.
    Marked,
    /// A relative's, whose objects we may take over.
    Sibling,
}

/// How the fields that we claim compare with the desired ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Content {
    Desired,
    Drifted,
    /// Differs in a field that cannot be changed.
    Frozen,
    /// Written by somebody before us, and not ours until it is taken over; it differs then.
    Inherited,
    /// As desired, but for an item that somebody else put into a list of ours.
    Intruded,
    /// Written from what is desired, and changed by somebody else since, who may.
    Edited,
}

/// An object on the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Object {
    pub(crate) uid: u16,
    pub(crate) version: u16,
    pub(crate) holder: Holder,
    pub(crate) content: Content,
    pub(crate) deleting: bool,
    /// A fact that bodies are rendered from: somebody has scaled it, say.
    pub(crate) scaled: bool,
    /// Somebody else has done what later stages wait for.
    pub(crate) established: bool,
}

impl Object {
    pub(crate) fn is_ours(self) -> bool {
        matches!(self.holder, Holder::Ours | Holder::Marked)
    }
}

/// The custom resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RootObject {
    pub(crate) version: u16,
    pub(crate) finalizer: bool,
    pub(crate) deleting: bool,
    /// Places that its status names, one bit each.
    pub(crate) inventory: u8,
}

/// What matters of a place to the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ground {
    /// Somebody's finalizer holds the object when it is deleted.
    pub(crate) held: bool,
    /// What we write there has a mark and no owner.
    pub(crate) unowned: bool,
}

impl Ground {
    const fn holder(self) -> Holder {
        if self.unowned {
            Holder::Marked
        } else {
            Holder::Ours
        }
    }
}

/// What can be seen of the server: by a fresh read now, by a lagging watch a change ago.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct View {
    pub(crate) objects: [Option<Object>; PLACES],
    pub(crate) root: Option<RootObject>,
}

/// What a request is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Target {
    Object(usize),
    Root,
}

/// A write in the terms of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Write {
    Create,
    Update { uid: u16, version: u16 },
    Fixup { uid: u16, version: u16 },
    Delete { uid: u16, version: u16 },
    SetFinalizer { version: u16, finalizer: bool },
    Record { version: u16, inventory: u8 },
}

impl Write {
    /// Translates the operation of a commit; `None` for a read.
    pub(crate) fn of(operation: &Operation, finalizer: bool, inventory: u8) -> Option<Self> {
        let number = |text: &str| {
            text.parse()
                .expect("a guard names what the commit was shown")
        };
        match operation {
            Operation::Create => Some(Self::Create),
            Operation::Fixup {
                uid,
                resource_version,
                ..
            } => Some(Self::Fixup {
                uid: number(uid),
                version: number(resource_version),
            }),
            Operation::Update {
                uid,
                resource_version,
            } => Some(Self::Update {
                uid: number(uid),
                version: number(resource_version),
            }),
            Operation::Delete {
                uid,
                resource_version,
            } => Some(Self::Delete {
                uid: number(uid),
                version: number(resource_version),
            }),
            Operation::PatchFinalizers { resource_version } => Some(Self::SetFinalizer {
                version: number(resource_version),
                finalizer,
            }),
            Operation::PatchStatus { resource_version } => Some(Self::Record {
                version: number(resource_version),
                inventory,
            }),
            Operation::Read => None,
        }
    }
}

/// How the server answers a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    Applied,
    Deleted,
    /// Somebody's finalizer holds it.
    Deleting,
    Conflict,
    NotFound,
    Immutable,
}

/// A promise of the cluster. Breaking one must make the checker find a violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Promise {
    /// A create is refused if the object exists.
    CreateOnly,
    /// An update is refused if the object is another one or has changed.
    UpdateGuards,
    /// An update is refused if the object has changed; what remains is the guard of the uid.
    UpdateVersion,
    /// A delete is refused if the object is another one or has changed.
    DeletePreconditions,
    /// What a deleted owner leaves behind is removed.
    GarbageCollection,
}

/// The server: what is, what was one change ago, and which numbers are used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct World {
    pub(crate) now: View,
    /// Every object as it was before its last change.
    pub(crate) before: View,
    used: u16,
}

impl World {
    pub(crate) fn new(now: View) -> Self {
        let used = now
            .objects
            .iter()
            .flatten()
            .map(|object| object.version.max(object.uid))
            .max();
        Self {
            now,
            before: now,
            used: used
                .max(now.root.map(|root| root.version))
                .unwrap_or_default(),
        }
    }

    pub(crate) fn fresh(&mut self) -> u16 {
        self.used += 1;
        self.used
    }

    pub(crate) fn set(&mut self, place: usize, object: Option<Object>) {
        self.before.objects[place] = self.now.objects[place];
        self.now.objects[place] = object;
    }

    /// Changes an object in its place, which gives it a new version.
    pub(crate) fn change(&mut self, place: usize, change: impl FnOnce(&mut Object)) {
        if let Some(mut object) = self.now.objects[place] {
            change(&mut object);
            object.version = self.fresh();
            self.set(place, Some(object));
        }
    }

    /// A new object in an empty or emptied place.
    pub(crate) fn put(&mut self, place: usize, holder: Holder, content: Content) {
        let number = self.fresh();
        let object = Object {
            uid: number,
            version: number,
            holder,
            content,
            deleting: false,
            scaled: false,
            established: false,
        };
        self.set(place, Some(object));
    }

    pub(crate) fn set_root(&mut self, root: Option<RootObject>) {
        self.before.root = self.now.root;
        self.now.root = root;
    }

    /// Changes the root, which gives it a new version; without finalizer a deleted root is gone.
    pub(crate) fn change_root(&mut self, change: impl FnOnce(&mut RootObject)) {
        if let Some(mut root) = self.now.root {
            change(&mut root);
            root.version = self.fresh();
            self.set_root(Some(root).filter(|root| root.finalizer || !root.deleting));
        }
    }

    /// Deletes as the server does: what a finalizer holds is marked and goes later.
    pub(crate) fn delete(&mut self, place: usize, held: bool) {
        if held {
            if self.now.objects[place].is_some_and(|object| !object.deleting) {
                self.change(place, |object| object.deleting = true);
            }
        } else {
            self.set(place, None);
        }
    }

    /// Carries a write out, or refuses it.
    pub(crate) fn serve(
        &mut self,
        target: Target,
        write: Write,
        ground: Ground,
        broken: Option<Promise>,
    ) -> Reply {
        match target {
            Target::Object(place) => self.serve_object(place, write, ground, broken),
            Target::Root => self.serve_root(write),
        }
    }

    fn serve_object(
        &mut self,
        place: usize,
        write: Write,
        ground: Ground,
        broken: Option<Promise>,
    ) -> Reply {
        match (write, self.now.objects[place]) {
            (Write::Create, None) => self.put(place, ground.holder(), Content::Desired),
            (Write::Create, Some(object)) if broken == Some(Promise::CreateOnly) => {
                return self.apply(place, object, ground);
            }
            (Write::Update { uid, version } | Write::Fixup { uid, version }, Some(object)) => {
                let fits = match broken {
                    Some(Promise::UpdateGuards) => true,
                    Some(Promise::UpdateVersion) => object.uid == uid,
                    _ => (object.uid, object.version) == (uid, version),
                };
                return match write {
                    _ if !fits => Reply::Conflict,
                    Write::Fixup { .. } => self.mend(place),
                    _ => self.apply(place, object, ground),
                };
            }
            (Write::Delete { .. }, None) => return Reply::NotFound,
            (Write::Delete { uid, version }, Some(object))
                if (object.uid, object.version) == (uid, version)
                    || broken == Some(Promise::DeletePreconditions) =>
            {
                self.delete(place, ground.held);
                return if ground.held {
                    Reply::Deleting
                } else {
                    Reply::Deleted
                };
            }
            _ => return Reply::Conflict,
        }
        Reply::Applied
    }

    /// Forced apply: our fields and our owner reference; nothing happens if both are there already.
    fn apply(&mut self, place: usize, object: Object, ground: Ground) -> Reply {
        if object.content == Content::Frozen {
            return Reply::Immutable;
        }
        // An apply leaves items of others where they are.
        let differs = !matches!(object.content, Content::Desired | Content::Intruded);
        if object.holder != ground.holder() || differs {
            self.change(place, |object| {
                object.holder = ground.holder();
                object.content = Content::Desired;
            });
        }
        Reply::Applied
    }

    /// What somebody before us wrote becomes ours, and shows what it lacks; items of others go.
    fn mend(&mut self, place: usize) -> Reply {
        self.change(place, |object| {
            object.content = match object.content {
                Content::Intruded => Content::Desired,
                _ => Content::Drifted,
            };
        });
        Reply::Applied
    }

    fn serve_root(&mut self, write: Write) -> Reply {
        let Some(root) = self.now.root else {
            return Reply::NotFound;
        };
        match write {
            Write::SetFinalizer { version, finalizer } if root.version == version => {
                self.change_root(|root| root.finalizer = finalizer);
            }
            Write::Record { version, inventory } if root.version == version => {
                self.change_root(|root| root.inventory = inventory);
            }
            _ => return Reply::Conflict,
        }
        Reply::Applied
    }

    /// Whether a write that is still under way could do anything: spent guards never fit again.
    pub(crate) fn could_land(&self, target: Target, write: Write, broken: Option<Promise>) -> bool {
        let mut copy = *self;
        // A create may find an empty place later on.
        write == Write::Create
            || broken.is_some()
            || matches!(
                copy.serve(target, write, Ground::default(), broken),
                Reply::Applied | Reply::Deleted | Reply::Deleting
            )
    }

    /// The view of a watch that lags by one change on the chosen objects.
    pub(crate) fn observe(&self, lagging: u8) -> View {
        let mut view = self.now;
        for (place, object) in view.objects.iter_mut().enumerate() {
            if lagging & (1 << place) != 0 {
                *object = self.before.objects[place];
            }
        }
        if lagging & ROOT_LAGS != 0 {
            view.root = self.before.root;
        }
        view
    }

    /// Every distinct choice of objects on which a watch can lag.
    pub(crate) fn lags(&self) -> impl Iterator<Item = u8> {
        let mut differing = 0;
        for place in 0..PLACES {
            differing |= u8::from(self.now.objects[place] != self.before.objects[place]) << place;
        }
        if self.now.root != self.before.root {
            differing |= ROOT_LAGS;
        }
        (1..ROOT_LAGS * 2).filter(move |choice| choice & !differing == 0)
    }
}

const ROOT_LAGS: u8 = 1 << PLACES;
