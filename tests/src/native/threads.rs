//! Threads on which binding calls wait between two steps. A thread is kept for the next call: tests make very many.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::mpsc::{Receiver, Sender, channel};

use dractl::plugin::{BindingRun, Fault, PluginError, Progress, Step, Suspension};
use dynamic_resources::plugin::NAME;

/// How a binding call ends.
type Outcome = Result<Option<Progress>, PluginError>;
type Call = Box<dyn FnOnce(Rc<Gate>) -> Outcome + Send>;

thread_local! {
    /// Threads that wait for a call of this thread.
    static IDLE: RefCell<Vec<Worker>> = const { RefCell::new(Vec::new()) };
}

/// What a call that stopped is told.
enum Order {
    GoOn,
    GiveUp,
}

/// Where a binding call stops.
pub struct Gate {
    announce: Sender<Step>,
    orders: Receiver<Order>,
}

impl Gate {
    /// Stops the call until it is resumed.
    pub fn stop(&self, at: Suspension) {
        let told = self.announce.send(Step::Suspended(at)).is_ok();
        if !told || !matches!(self.orders.recv(), Ok(Order::GoOn)) {
            // Given up in the middle: nothing more of the plugin runs, as when a store is dropped.
            resume_unwind(Box::new("binding call given up"));
        }
    }
}

/// A thread, seen from the one that gives it calls.
struct Worker {
    calls: Sender<Call>,
    orders: Sender<Order>,
    announced: Receiver<Step>,
}

impl Worker {
    fn start() -> Self {
        let (calls, given) = channel::<Call>();
        let (orders, received) = channel();
        let (announce, announced) = channel();
        std::thread::spawn(move || {
            let gate = Rc::new(Gate {
                announce,
                orders: received,
            });
            // Ends when the other side is gone.
            while let Ok(call) = given.recv() {
                let outcome = catch_unwind(AssertUnwindSafe(|| call(gate.clone())));
                let step = Step::Done(outcome.unwrap_or_else(|_| Err(panicked())));
                if gate.announce.send(step).is_err() {
                    return;
                }
            }
        });
        Self {
            calls,
            orders,
            announced,
        }
    }
}

fn panicked() -> PluginError {
    PluginError {
        fault: Fault::Trap,
        plugin: NAME.into(),
        call: "binding".into(),
        cause: "panicked".into(),
    }
}

/// A binding call on a thread of its own.
pub struct ThreadedBinding {
    /// There until the first `resume`.
    call: Option<Call>,
    /// There while the call runs.
    worker: Option<Worker>,
}

impl ThreadedBinding {
    /// Nothing runs before the first `resume`.
    pub fn new(call: impl FnOnce(Rc<Gate>) -> Outcome + Send + 'static) -> Self {
        Self {
            call: Some(Box::new(call)),
            worker: None,
        }
    }

    /// The call is over; its thread is free.
    fn release(&mut self) {
        if let Some(worker) = self.worker.take() {
            // Fails while this thread ends, and then the other one ends as well.
            let _ = IDLE.try_with(|idle| idle.borrow_mut().push(worker));
        }
    }
}

impl BindingRun for ThreadedBinding {
    fn resume(&mut self) -> Step {
        let sent = match (self.call.take(), &self.worker) {
            (Some(call), _) => {
                let idle = IDLE.with(|idle| idle.borrow_mut().pop());
                let worker = self.worker.insert(idle.unwrap_or_else(Worker::start));
                worker.calls.send(call).is_ok()
            }
            (None, Some(worker)) => worker.orders.send(Order::GoOn).is_ok(),
            (None, None) => false,
        };
        let step = match &self.worker {
            Some(worker) if sent => worker.announced.recv().ok(),
            _ => None,
        };
        let step = step.unwrap_or_else(|| Step::Done(Err(panicked())));
        if matches!(step, Step::Done(_)) {
            self.release();
        }
        step
    }
}

impl Drop for ThreadedBinding {
    fn drop(&mut self) {
        let Some(worker) = &self.worker else { return };
        // The thread is free once it has told that the call is over.
        if worker.orders.send(Order::GiveUp).is_ok() && worker.announced.recv().is_ok() {
            self.release();
        }
    }
}
