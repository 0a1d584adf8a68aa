//! Whoever wants to know of every write, or to object.

use std::{fmt, future::Future};

use crate::{client::ClientError, object::Object};

/// A write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Creating.
    Create,
    /// Replacing.
    Update,
    /// Applying on the server.
    Apply,
    /// Deleting.
    Delete,
}

/// Is told of every write. All methods do nothing unless they are given a body.
pub trait Observer: Send + Sync + fmt::Debug {
    /// Before a request is sent. An error keeps it from being sent.
    fn before(&self, object: &Object, verb: Verb) -> Result<(), String> {
        let _ = (object, verb);
        Ok(())
    }

    /// After the answer to a request.
    fn after(&self, object: &Object, verb: Verb, result: Result<(), &ClientError>) {
        let _ = (object, verb, result);
    }

    /// After all that is done with an object; in one word what became of it.
    fn done(&self, object: &Object, result: Result<&str, &ClientError>) {
        let _ = (object, result);
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Hooks<'set>(pub(crate) Option<&'set dyn Observer>);

impl Hooks<'_> {
    /// Sends a request unless somebody objects. The log names the object, never what is in it.
    pub(crate) async fn around<T>(
        self,
        object: &Object,
        verb: Verb,
        request: impl Future<Output = Result<T, ClientError>>,
    ) -> Result<T, ClientError> {
        if let Some(Err(message)) = self.0.map(|observer| observer.before(object, verb)) {
            return Err(ClientError::Vetoed { message });
        }
        let result = request.await;
        tracing::debug!(%object, ?verb, failed = result.is_err(), "Sent");
        if let Some(observer) = self.0 {
            observer.after(object, verb, result.as_ref().map(drop));
        }
        result
    }

    pub(crate) fn done(self, object: &Object, result: Result<&str, &ClientError>) {
        if let Some(observer) = self.0 {
            observer.done(object, result);
        }
    }
}
