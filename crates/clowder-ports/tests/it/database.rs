//! Against a PostgreSQL server of the machine, in a temporary directory.

use mainstay_clowder::providers::effect::{Effect, Hidden};
use mainstay_clowder_ports::{Ports, Resolve};
use mainstay_testkit::{
    operator::{ClosedPort, free_port},
    servers::Postgres,
};

const PASSWORD: &str = "it's \"secret\"";

async fn server() -> Postgres {
    Postgres::start(free_port(), PASSWORD).await
}

/// Ports that reach the server by a name that no one else knows.
fn ports(server: &Postgres) -> Ports {
    Ports::new(Resolve::parse(&format!("stage-db-v15.stage.svc={}", server.address())).unwrap())
}

/// Every database that was made and the role that owns it.
fn databases(server: &Postgres) -> Vec<String> {
    let query = "SELECT datname || ' of ' || rolname FROM pg_database JOIN pg_roles ON pg_roles.oid = datdba \
        WHERE NOT datistemplate AND datname <> 'postgres' ORDER BY 1";
    let answer = server.ask("postgres", query);
    answer.lines().map(ToOwned::to_owned).collect()
}

fn effect(name: &str, maintenance: &str) -> Effect {
    Effect::Database {
        host: "stage-db-v15.stage.svc".to_owned(),
        port: 5432,
        admin_password: Hidden(PASSWORD.to_owned()),
        maintenance: maintenance.to_owned(),
        name: name.to_owned(),
        owner: "App User".to_owned(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_is_made_once_for_its_owner_whatever_it_is_called() {
    let server = server().await;
    server.ask("postgres", "CREATE ROLE \"App User\"");
    let hostile = "orders\"; DROP ROLE \"App User\"; --";
    let ports = ports(&server);
    for name in ["orders", hostile, "orders", hostile] {
        assert_eq!(
            ports.run(&effect(name, "postgres")).await,
            Ok(String::new()),
            "{name}"
        );
    }
    assert_eq!(
        databases(&server),
        [
            "orders of App User".to_owned(),
            format!("{hostile} of App User")
        ]
    );

    let same = effect("raced", "orders");
    let (a, b, c, d) = tokio::join!(
        ports.run(&same),
        ports.run(&same),
        ports.run(&same),
        ports.run(&same)
    );
    assert_eq!([a, b, c, d], [const { Ok(String::new()) }; 4]);
    assert_eq!(databases(&server).len(), 3);

    let absent = ports.run(&effect("other", "nowhere")).await.unwrap_err();
    assert_eq!(absent, "database \"nowhere\" does not exist");
    let Effect::Database {
        host,
        port,
        maintenance,
        name,
        owner,
        ..
    } = effect("orders", "postgres")
    else {
        unreachable!()
    };
    let wrong = Effect::Database {
        host,
        port,
        admin_password: Hidden("wrong".to_owned()),
        maintenance,
        name,
        owner,
    };
    let refused = ports.run(&wrong).await.unwrap_err();
    assert_eq!(
        refused,
        "pq: password authentication failed for user \"postgres\""
    );
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    let nobody = ClosedPort::take();
    let resolve = format!("stage-db-v15.stage.svc={}", nobody.address());
    let ports = Ports::new(Resolve::parse(&resolve).unwrap());
    let failure = ports.run(&effect("orders", "postgres")).await.unwrap_err();
    assert!(
        failure.starts_with(&format!("dial tcp {}: ", nobody.address())),
        "{failure}"
    );
    assert!(!failure.contains("secret"), "{failure}");
}
