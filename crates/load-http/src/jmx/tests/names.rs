//! Users ask the name servers of a plan, each for itself.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Mutex;

use super::*;

/// A name server that knows one name and answers with 127.0.0.1; how often it was asked for is noted.
fn name_server() -> (SocketAddr, Arc<Mutex<Vec<Vec<u8>>>>) {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = socket.local_addr().unwrap();
    let asked: Arc<Mutex<Vec<Vec<u8>>>> = Arc::default();
    let noted = Arc::clone(&asked);
    std::thread::spawn(move || {
        let mut room = [0; 512];
        while let Ok((bytes, from)) = socket.recv_from(&mut room) {
            let question = &room[..bytes];
            let name = &question[12..bytes - 4];
            let mut answer = question.to_vec();
            match name == b"\x04shop\x07invalid\0" {
                true => {
                    noted.lock().unwrap().push(name.to_vec());
                    answer[2..8].copy_from_slice(&[0x81, 0x80, 0, 1, 0, 1]);
                    answer.extend(b"\xc0\x0c\0\x01\0\x01\0\0\0\x3c\0\x04\x7f\0\0\x01");
                }
                false => answer[2..4].copy_from_slice(&[0x81, 0x83]),
            }
            let _ = socket.send_to(&answer, from);
        }
    });
    (address, asked)
}

fn plan_of(clears: bool, server: SocketAddr, port: u16) -> String {
    let get = |host: &str| {
        format!(
            r#"<HTTPSamplerProxy testname="{host}"><stringProp name="HTTPSampler.domain">{host}</stringProp><stringProp name="HTTPSampler.port">{port}</stringProp></HTTPSamplerProxy><hashTree/>"#
        )
    };
    let samplers = [
        get("shop.invalid"),
        get("SHOP.invalid"),
        get("bank.invalid"),
        get("127.0.0.1"),
    ];
    format!(
        r#"<jmeterTestPlan version="1.2"><hashTree><TestPlan testname="P"/><hashTree>
<ThreadGroup testname="Users"><stringProp name="ThreadGroup.num_threads">3</stringProp>
<elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><intProp name="LoopController.loops">2</intProp></elementProp></ThreadGroup>
<hashTree><DNSCacheManager testname="names"><boolProp name="DNSCacheManager.isCustomResolver">true</boolProp><boolProp name="DNSCacheManager.clearEachIteration">{clears}</boolProp><collectionProp name="DNSCacheManager.servers"><stringProp name="s">{server}</stringProp></collectionProp></DNSCacheManager><hashTree/>{}</hashTree></hashTree></hashTree></jmeterTestPlan>"#,
        samplers.concat()
    )
}

#[test]
fn each_user_asks_the_servers_of_the_plan_and_again_when_it_forgets() {
    // Three users, two iterations; a question that is answered late is asked again.
    for (clears, least) in [(false, 3), (true, 6)] {
        let answered = Arc::new(AtomicU64::new(0));
        let port = server(Arc::clone(&answered));
        let (names, asked) = name_server();
        let (finished, rows) = execute(&plan_of(clears, names, port), |_| {});
        assert!(finished.problems.is_empty(), "{:?}", finished.problems);
        assert_eq!(rows.len() - 1, 3 * 2 * 4, "{rows:?}");
        let unknown = "java.net.UnknownHostException";
        for row in &rows[1..] {
            assert_eq!(row.contains("bank"), row.contains(unknown), "{row}");
        }
        assert_eq!(answered.load(Ordering::Relaxed), 3 * 2 * 3);
        let times = asked.lock().unwrap().len();
        assert!(
            times >= least,
            "{times} questions, at least {least} were due"
        );
        if !clears && times > least {
            eprintln!("the machine is busy: {times} questions instead of {least}");
        }
    }
}
