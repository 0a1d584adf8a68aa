//! Which apps and environments reconciles have begun for, and which of them are as declared.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use mainstay_engine::key::ObjectKey;

/// The text by which users know an app or an environment: `<environment>.<app>`, or `<environment>`.
pub type Ident = Arc<str>;

/// A reconcile that ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    /// Whose it was.
    pub(crate) ident: Ident,
    /// How long it took.
    pub(crate) duration: Duration,
    /// Whether it was the last one.
    pub(crate) is_last: bool,
}

/// The apps, or the environments.
#[derive(Debug, Default)]
pub struct ReconciledRoots {
    register: Mutex<Register>,
}

#[derive(Debug, Default)]
struct Register {
    members: HashMap<ObjectKey, Member>,
    /// How many members there are to an ident: apps in different namespaces may share it.
    present: BTreeMap<Ident, usize>,
    /// How many of them the last reconcile was a success for.
    managed: BTreeMap<Ident, usize>,
}

#[derive(Debug)]
struct Member {
    ident: Ident,
    is_managed: bool,
    is_leaving: bool,
    /// Begin of the reconcile that runs now.
    began: Option<Instant>,
}

impl ReconciledRoots {
    /// Everybody for whom a reconcile has begun and who is not gone, in ascending order.
    pub fn present(&self) -> Vec<Ident> {
        self.lock().present.keys().cloned().collect()
    }

    /// Everybody whose last reconcile was a success, in ascending order. Whose reconcile runs now is not among them.
    pub fn managed(&self) -> Vec<Ident> {
        self.lock().managed.keys().cloned().collect()
    }

    /// How many are present, and how many managed.
    pub fn sizes(&self) -> (usize, usize) {
        let register = self.lock();
        (register.present.len(), register.managed.len())
    }

    /// A reconcile of somebody begins. Says whether none was running.
    pub(crate) fn begin(&self, key: &ObjectKey, ident: &str, is_leaving: bool) -> bool {
        let mut register = self.lock();
        if let Some(member) = register.members.get_mut(key)
            && member.began.is_some()
            && &*member.ident == ident
        {
            member.is_leaving = is_leaving;
            return false;
        }
        register.remove(key);
        let ident: Ident = ident.into();
        *register.present.entry(ident.clone()).or_default() += 1;
        register.members.insert(
            key.clone(),
            Member {
                ident,
                is_managed: false,
                is_leaving,
                began: Some(Instant::now()),
            },
        );
        true
    }

    /// Somebody's pass ended. One that leaves is gone after its success.
    pub(crate) fn end(&self, key: &ObjectKey, is_success: bool) -> Option<Ended> {
        let mut register = self.lock();
        let member = register.members.get_mut(key)?;
        let ident = member.ident.clone();
        let duration = member.began.take()?.elapsed();
        let is_last = is_success && member.is_leaving;
        if is_last {
            register.remove(key);
        } else if is_success {
            member.is_managed = true;
            *register.managed.entry(ident.clone()).or_default() += 1;
        }
        Some(Ended {
            ident,
            duration,
            is_last,
        })
    }

    /// Somebody is gone. Returns the ident.
    pub(crate) fn forget(&self, key: &ObjectKey) -> Option<Ident> {
        self.lock().remove(key)
    }

    fn lock(&self) -> MutexGuard<'_, Register> {
        self.register.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Register {
    fn remove(&mut self, key: &ObjectKey) -> Option<Ident> {
        let member = self.members.remove(key)?;
        discount(&mut self.present, &member.ident);
        if member.is_managed {
            discount(&mut self.managed, &member.ident);
        }
        Some(member.ident)
    }
}

fn discount(counts: &mut BTreeMap<Ident, usize>, ident: &Ident) {
    if let Some(count) = counts.get_mut(ident) {
        *count -= 1;
        if *count == 0 {
            counts.remove(ident);
        }
    }
}

#[cfg(test)]
mod tests {
    use mainstay_clowder::kinds;

    use super::*;

    fn key(namespace: &str, name: &str) -> ObjectKey {
        ObjectKey::new(kinds::CLOWD_APP, namespace, name)
    }

    #[test]
    fn who_is_passed_is_present_and_managed_only_after_a_success() {
        let census = ReconciledRoots::default();
        let shop = key("a", "shop");
        assert!(census.begin(&shop, "stage.shop", false));
        assert!(
            !census.begin(&shop, "stage.shop", false),
            "the same pass looks again"
        );
        assert_eq!(census.sizes(), (1, 0));
        assert!(census.end(&shop, true).is_some());
        assert_eq!(census.managed(), ["stage.shop".into()]);
        assert!(census.begin(&shop, "stage.shop", false));
        assert_eq!(census.sizes(), (1, 0), "not while the next pass runs");
        assert!(census.end(&shop, false).is_some());
        assert_eq!(census.sizes(), (1, 0), "and not after a failure");
    }

    #[test]
    fn who_is_deleted_is_gone_after_the_last_pass() {
        let census = ReconciledRoots::default();
        let shop = key("a", "shop");
        census.begin(&shop, "stage.shop", true);
        assert!(!census.end(&shop, false).unwrap().is_last);
        assert_eq!(census.present(), ["stage.shop".into()]);
        census.begin(&shop, "stage.shop", true);
        assert!(census.end(&shop, true).unwrap().is_last);
        assert_eq!(census.sizes(), (0, 0));
        assert_eq!(census.forget(&shop), None);
    }

    #[test]
    fn apps_of_one_name_count_once_until_the_last_is_gone() {
        let census = ReconciledRoots::default();
        for namespace in ["a", "b"] {
            census.begin(&key(namespace, "shop"), "stage.shop", false);
            census.end(&key(namespace, "shop"), true);
        }
        assert_eq!(census.sizes(), (1, 1));
        census.forget(&key("a", "shop"));
        assert_eq!(census.sizes(), (1, 1));
        census.forget(&key("b", "shop"));
        assert_eq!(census.sizes(), (0, 0));
    }

    #[test]
    fn an_app_that_moves_to_another_environment_leaves_nothing_behind() {
        let census = ReconciledRoots::default();
        let shop = key("a", "shop");
        census.begin(&shop, "stage.shop", false);
        census.end(&shop, true);
        census.begin(&shop, "live.shop", false);
        assert_eq!(census.present(), ["live.shop".into()]);
        assert!(census.managed().is_empty());
    }
}
