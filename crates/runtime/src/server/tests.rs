use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
};

use super::*;

/// Probes on a free port, on a thread of their own.
fn probes(live: Result<(), String>) -> (SocketAddr, crate::shutdown::Stopper) {
    let listener = bind("127.0.0.1:0").unwrap().unwrap();
    let address = listener.local_addr().unwrap();
    let (stopper, shutdown) = Shutdown::new();
    let probes = Probes {
        ready: Arc::new(|| Ok(())),
        live: Arc::new(move || live.clone()),
    };
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(serve_probes(listener, probes, shutdown))
    });
    (address, stopper)
}

fn get(address: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn the_older_name_of_the_probe_asks_for_progress_too() {
    let (address, _stopper) = probes(Err("stuck".to_owned()));
    for path in ["/livez", "/healthz"] {
        let answer = get(address, path);
        assert!(
            answer.starts_with("HTTP/1.1 503") && answer.ends_with("stuck"),
            "{answer}"
        );
    }
    assert!(get(address, "/readyz").starts_with("HTTP/1.1 200"));
    assert!(get(address, "/elsewhere").starts_with("HTTP/1.1 404"));
}

#[test]
fn who_connects_and_says_nothing_keeps_nobody_from_asking() {
    let (address, _stopper) = probes(Ok(()));
    let silent: Vec<TcpStream> = (0..4 * CONNECTIONS)
        .map(|_| TcpStream::connect(address).unwrap())
        .collect();
    assert!(get(address, "/livez").starts_with("HTTP/1.1 200"));
    // The oldest had to go.
    let mut oldest = silent.first().unwrap();
    assert_eq!(oldest.read(&mut [0; 1]).unwrap_or_default(), 0);
}

#[test]
fn a_head_that_does_not_come_to_an_end_is_given_up() {
    let (address, _stopper) = probes(Ok(()));
    let mut slow = TcpStream::connect(address).unwrap();
    slow.write_all(b"GET /livez HTTP/1.1\r\nHost: ").unwrap();
    slow.set_read_timeout(Some(4 * HEAD)).unwrap();
    let mut answer = Vec::new();
    slow.read_to_end(&mut answer).unwrap();
    assert!(!answer.starts_with(b"HTTP/1.1 200"));
}
