//! The batch that is being written, beside whoever makes the next one ready.

use tokio::task::JoinHandle;

#[derive(Debug, Default)]
pub(super) struct Writing {
    task: Option<JoinHandle<()>>,
}

impl Writing {
    pub(super) fn is_under_way(&self) -> bool {
        self.task.is_some()
    }

    /// Call it when nothing is written any more.
    pub(super) fn begin(&mut self, work: impl Future<Output = ()> + Send + 'static) {
        self.task = Some(tokio::spawn(work));
    }

    /// Returns when nothing is written any more. May be given up and called again.
    pub(super) async fn end(&mut self) {
        if let Some(task) = &mut self.task {
            let ended = task.await;
            self.task = None;
            if let Err(error) = ended {
                tracing::error!(%error, "a commit broke the program: please report it");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn whoever_gives_up_waiting_can_wait_again() {
        let mut writing = Writing::default();
        writing.end().await;
        let (done, finished) = oneshot::channel::<()>();
        writing.begin(async {
            let _ = finished.await;
        });
        tokio::select! {
            biased;
            () = writing.end() => panic!("it is not over"),
            () = tokio::task::yield_now() => {}
        }
        assert!(writing.is_under_way());
        done.send(()).unwrap();
        writing.end().await;
        assert!(!writing.is_under_way());
    }
}
