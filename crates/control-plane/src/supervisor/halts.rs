//! Components that are taken away and given back on request. See [`crate::halt`].

use super::{Error, Supervisor};
use crate::assets::Program;

impl Supervisor {
    /// Kills those that are to be away, and starts those that no longer are.
    pub(super) fn halt_and_resume(&mut self) -> Result<(), Error> {
        let is_wanted_away = |program: Program| self.layout.halt_request(program.name()).exists();
        let away: Vec<Program> = Program::ALL
            .into_iter()
            .filter(|it| is_wanted_away(*it))
            .collect();
        if away == self.halted {
            return Ok(());
        }
        self.components.retain_mut(|component| {
            let stays = !away.contains(&component.program);
            if !stays {
                // An error means that it has ended by itself at this very moment.
                let _ = component.child.kill();
                let _ = component.child.wait();
            }
            stays
        });
        let named = |name: &str| away.iter().any(|program| program.name() == name);
        self.state
            .components
            .retain(|component| !named(&component.name));
        let back: Vec<Program> = self
            .halted
            .iter()
            .copied()
            .filter(|it| !away.contains(it))
            .collect();
        self.halted = away;
        for program in back {
            if let Some(ports) = self.state.ports {
                self.start(program, &ports)?;
            }
        }
        self.write_state()?;
        Ok(())
    }
}
