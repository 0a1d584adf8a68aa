//! Panics in the log, without the values that their messages may hold.

use std::{any::Any, panic};

/// From now on a panic is logged with its place, and with its message if that is a fixed text: one that was put together
/// may hold whatever the program worked on, a password included.
pub fn log_without_values() {
    panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string);
        let message = shown(panic.payload());
        tracing::error!(
            place,
            message,
            "Panicked; this is a defect, please report it"
        );
    }));
}

fn shown(payload: &(dyn Any + Send)) -> &str {
    let fixed = payload.downcast_ref::<&'static str>();
    fixed.copied().unwrap_or("not shown, it may hold values")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message_of(work: impl FnOnce() + panic::UnwindSafe) -> String {
        let payload = panic::catch_unwind(work).unwrap_err();
        shown(&*payload).to_owned()
    }

    #[test]
    fn a_panic_shows_fixed_texts_and_no_values() {
        let password = "cAnArY0f7h15T35t";
        assert_eq!(message_of(|| panic!("no such place")), "no such place");
        assert!(!message_of(|| panic!("no {password}")).contains(password));
        let failed = || {
            let number = password.parse::<u16>().map_err(|_| password);
            number.unwrap();
        };
        assert!(!message_of(failed).contains(password));
    }
}
