//! Rules of Keycloak.

use crate::{config::Validator, finding::Code};

use super::Keycloak;

const SERVICE: &str = "opencenter.services.keycloak";

pub(super) fn check(validator: &mut Validator<'_>) {
    let services = validator.config.services();
    let Some(service) = &services.keycloak else {
        return;
    };
    scaling(validator, &service.settings);
    pool(validator, &service.settings);
    frontend(validator, &service.settings);
    let schedule = &service.settings.backup_schedule;
    if service.settings.backup_enabled && !is_cron(schedule) {
        let message = "the backup schedule must be a cron expression with five fields";
        validator.report_text(
            Code::Oc3120,
            format!("{SERVICE}.backup_schedule"),
            message,
            schedule,
        );
    }
}

fn scaling(validator: &mut Validator<'_>, settings: &Keycloak) {
    let instances = format!("{SERVICE}.instances");
    if settings.instances < 1 {
        validator.report_number(
            Code::Oc3112,
            instances,
            "there must be at least one instance",
            settings.instances,
        );
    } else if settings.start_optimized && settings.instances < 2 {
        let message = "an optimized start needs at least two instances";
        validator.report_number(Code::Oc3111, instances, message, settings.instances);
    }
    match (settings.min_replicas, settings.max_replicas) {
        (Some(minimum), Some(maximum)) => {
            let path = format!("{SERVICE}.min_replicas");
            if minimum > maximum {
                let message = format!("`min_replicas` exceeds `max_replicas`, which is {maximum}");
                validator.report_number(Code::Oc3113, path.as_str(), message, minimum);
            }
            if minimum < 2 {
                let message = "fewer than two replicas are not highly available";
                validator.report_number(Code::Oc3114, path, message, minimum);
            }
        }
        (Some(_), None) => one_bound(validator, "min_replicas", "max_replicas"),
        (None, Some(_)) => one_bound(validator, "max_replicas", "min_replicas"),
        (None, None) => {}
    }
}

fn one_bound(validator: &mut Validator<'_>, set: &str, unset: &str) {
    let message = format!("`{set}` is set without `{unset}`, so nothing scales");
    validator.report(Code::Oc3115, format!("{SERVICE}.{set}"), message);
}

fn pool(validator: &mut Validator<'_>, settings: &Keycloak) {
    let (minimum, initial, maximum) = (
        settings.db_pool_min_size,
        settings.db_pool_initial_size,
        settings.db_pool_max_size,
    );
    if maximum <= 0 {
        return;
    }
    if minimum > maximum {
        let message = format!("`db_pool_min_size` {minimum} exceeds `db_pool_max_size` {maximum}");
        validator.report(Code::Oc3116, format!("{SERVICE}.db_pool_min_size"), message);
    } else if !(minimum..=maximum).contains(&initial) {
        let message =
            format!("`db_pool_initial_size` {initial} is not between {minimum} and {maximum}");
        validator.report(
            Code::Oc3116,
            format!("{SERVICE}.db_pool_initial_size"),
            message,
        );
    }
}

fn frontend(validator: &mut Validator<'_>, settings: &Keycloak) {
    let Some(address) = &settings.frontend_url else {
        return;
    };
    let path = format!("{SERVICE}.frontend_url");
    let is_plain = address.starts_with("http://");
    if !is_plain && !address.starts_with("https://") {
        let message = "the frontend address must be http or https";
        validator.report_text(Code::Oc3117, path, message, address);
    } else if is_plain && settings.start_optimized {
        let message = "an optimized start needs an https frontend";
        validator.report_text(Code::Oc3118, path, message, address);
    }
}

/// The smallest and largest number of each cron field.
const CRON_BOUNDS: [(u32, u32); 5] = [(0, 59), (0, 23), (1, 31), (1, 12), (0, 7)];

/// Whether a text is a cron expression with five fields, as Kubernetes reads it.
fn is_cron(text: &str) -> bool {
    let fields: Vec<_> = text.split_ascii_whitespace().collect();
    fields.len() == CRON_BOUNDS.len()
        && fields
            .iter()
            .zip(CRON_BOUNDS)
            .all(|(field, bounds)| field.split(',').all(|part| is_cron_part(part, bounds)))
}

fn is_cron_part(part: &str, (low, high): (u32, u32)) -> bool {
    const NAMES: &str =
        "sun mon tue wed thu fri sat jan feb mar apr may jun jul aug sep oct nov dec";
    let (range, step) = part.split_once('/').unwrap_or((part, "1"));
    let is_value = |value: &str| {
        value
            .parse::<u32>()
            .is_ok_and(|number| (low..=high).contains(&number))
            || (value.len() == 3
                && high <= 12
                && NAMES
                    .split(' ')
                    .any(|name| value.eq_ignore_ascii_case(name)))
    };
    let is_range = match range.split_once('-') {
        Some((from, to)) => is_value(from) && is_value(to),
        None => matches!(range, "*" | "?") || is_value(range),
    };
    is_range && step.parse::<u32>().is_ok_and(|step| step > 0)
}

pub(super) fn secrets(validator: &mut Validator<'_>) {
    let keycloak = &validator.config.secrets.keycloak;
    let password = keycloak.admin_password.as_ref();
    validator.need("secrets.keycloak.admin_password", password);
    if !validator.config.has_internal_client_secrets() {
        let secret = keycloak.client_secret.as_ref();
        validator.need("secrets.keycloak.client_secret", secret);
    }
}

#[cfg(test)]
mod tests {
    use super::is_cron;

    #[test]
    fn knows_cron_expressions() {
        for text in [
            "0 2 * * *",
            "*/5 0-6 1,15 * mon",
            "0 0 ? JAN-MAR 7",
            "59 23 31 12 0",
        ] {
            assert!(is_cron(text), "{text}");
        }
        for text in [
            "",
            "0 2 * *",
            "0 2 * * * *",
            "60 2 * * *",
            "a b c d e",
            "*/0 * * * *",
            "@daily",
            "1- * * * *",
        ] {
            assert!(!is_cron(text), "{text}");
        }
    }
}
