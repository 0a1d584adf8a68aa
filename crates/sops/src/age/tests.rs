use super::*;
use crate::surroundings::{OperatingSystem, tests::Counter};

fn pair() -> (Identity, Recipient) {
    let identity = Identity::generate(&mut Counter::default()).unwrap();
    let recipient = identity.recipient();
    (identity, recipient)
}

#[test]
fn keys_survive_their_text_form() {
    let (identity, recipient) = pair();
    let file = format!("# created: today\n\n{}\n", *identity.expose());
    let read = identities(&file).unwrap();
    assert_eq!(read[0].recipient(), recipient);
    assert_eq!(
        recipient.to_string().parse::<Recipient>().unwrap(),
        recipient
    );
}

#[test]
fn an_identity_is_shown_by_its_public_key_only() {
    let (identity, recipient) = pair();
    assert_eq!(format!("{identity:?}"), format!("Identity of {recipient}"));
    let error = identity.expose().parse::<Recipient>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "`***` is not an age recipient: it starts differently"
    );
    let error = identities("nonsense SECRET").unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 1 is not an age secret key: upper and lower case are mixed"
    );
}

#[test]
fn reads_what_it_writes_in_every_size() {
    let (identity, recipient) = pair();
    for length in [0, 1, 65_535, 65_536, 65_537, 131_072] {
        let cleartext = vec![42; length];
        let file = encrypt(&cleartext, &recipient, &mut OperatingSystem).unwrap();
        let file = dearmor(&enarmor(&file)).unwrap();
        assert_eq!(
            *decrypt(&file, std::slice::from_ref(&identity)).unwrap(),
            cleartext
        );
    }
}

#[test]
fn another_key_does_not_fit() {
    let (_, recipient) = pair();
    let file = encrypt(b"x", &recipient, &mut OperatingSystem).unwrap();
    let other = Identity::generate(&mut OperatingSystem).unwrap();
    assert!(matches!(decrypt(&file, &[other]), Err(Error::NoMatch)));
    assert!(matches!(decrypt(&file, &[]), Err(Error::NoMatch)));
}

#[test]
fn no_changed_or_missing_byte_goes_unnoticed() {
    let (identity, recipient) = pair();
    let identity = [identity];
    let file = encrypt(b"attack at dawn", &recipient, &mut Counter::default()).unwrap();
    for index in 0..file.len() {
        let mut changed = file.clone();
        changed[index] ^= 1;
        assert!(decrypt(&changed, &identity).is_err(), "byte {index}");
        assert!(
            decrypt(&file[..index], &identity).is_err(),
            "length {index}"
        );
    }
    let mut longer = file;
    longer.push(0);
    assert!(matches!(decrypt(&longer, &identity), Err(Error::Payload)));
}

#[test]
fn a_lost_tail_is_called_so() {
    let (identity, recipient) = pair();
    let file = encrypt(&vec![0; 70_000], &recipient, &mut OperatingSystem).unwrap();
    let whole_chunk = file.len() - (70_000 - 65_536) - 16;
    let error = decrypt(&file[..whole_chunk], &[identity]).unwrap_err();
    assert!(matches!(error, Error::Truncated));
    assert!(matches!(
        dearmor("-----BEGIN AGE ENCRYPTED FILE-----\nAAAA\n"),
        Err(Error::Truncated)
    ));
}
