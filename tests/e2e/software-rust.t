#!/usr/bin/python3
"""rustc and cargo build, and what they made runs: threads, channels, sockets on loopback, a child process."""
from software import BUILDS, runs, run_in, tools
from tap import done

PROGRAM = r"""
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::{mpsc, Arc, Mutex};
use std::thread;
fn main() {
    let sum = Arc::new(Mutex::new(0u64));
    let threads: Vec<_> = (0..16u64).map(|n| { let s = sum.clone(); thread::spawn(move || *s.lock().unwrap() += n) }).collect();
    for t in threads { t.join().unwrap(); }
    let (tx, rx) = mpsc::channel();
    thread::spawn(move || tx.send(42).unwrap());
    let l = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = l.local_addr().unwrap();
    let server = thread::spawn(move || l.accept().unwrap().0.write_all(b"served").unwrap());
    let mut got = String::new();
    TcpStream::connect(at).unwrap().read_to_string(&mut got).unwrap();
    server.join().unwrap();
    let child = Command::new("/bin/echo").arg("child").output().unwrap();
    println!("{} {} {} {}", sum.lock().unwrap(), rx.recv().unwrap(), got, String::from_utf8(child.stdout).unwrap().trim());
}
"""
WANT = "120 42 served child\n"
image = tools("rustc", "cargo", "cc", "tar")
runs("rustc", run_in(image, "rustc -O program.rs && ./program", *BUILDS, files={"program.rs": PROGRAM}), WANT)
runs("cargo", run_in(image, "export CARGO_HOME=/scratch/cargo; cargo build -q --offline && ./target/debug/inside", *BUILDS, files={
    "Cargo.toml": '[package]\nname = "inside"\nversion = "0.1.0"\nedition = "2021"\n', "src/main.rs": PROGRAM}), WANT)
done()
