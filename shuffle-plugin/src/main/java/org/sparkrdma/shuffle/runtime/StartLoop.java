// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.directory.DirectoryClient;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.FallbackThreads;
import org.sparkrdma.shuffle.fetch.FirstFetch;
import org.sparkrdma.shuffle.figures.FigureSender;
import org.sparkrdma.shuffle.links.MissingLinks;
import org.sparkrdma.shuffle.read.RdmaReads;
import org.sparkrdma.shuffle.read.RdmaReads.Way;
import org.sparkrdma.shuffle.runtime.RuntimeStatus.State;
import org.sparkrdma.shuffle.thread.ControlThread;

/**
 * Starts RDMA in an executor, and starts it again after its loss or a start that has failed; tells
 * the driver, tasks and the log. Owned by the {@link RdmaRuntime}, confined to the control thread.
 */
final class StartLoop {
  /** One name in the log for all of the runtime. */
  private static final Logger LOG = LoggerFactory.getLogger(RdmaRuntime.class);

  private static final long LAST_RESTART_MS = 60_000;

  /** Time after which RDMA is stable: the next loss is followed by a start soon. */
  private static final long STABLE_NS = TimeUnit.MINUTES.toNanos(1);

  /** Ends the WARN of a first start that fails. */
  private static final String RUN_DOCTOR =
      "First run the command doctor of the plug-in's jar on this host: it says what to do";

  private final String executorId;
  private final RdmaStart start;
  private final SharedStatus status;
  private final RdmaReads reads;
  private final DirectoryClient directory;
  private final FigureSender figures;
  private final FallbackThreads tcp;
  private final MissingLinks missing;
  private final ControlThread control;
  private final long firstRestartMs;

  /** Number of starts. */
  private int starts;

  /** What has not closed: a start would open the device a second time. Else null. */
  private OpenRdma unclosed;

  private long restartMs;
  private long upSinceNs;

  /**
   * @param firstRestart wait before the first start after the loss of the device
   */
  StartLoop(
      String executorId,
      RdmaStart start,
      SharedStatus status,
      RdmaReads reads,
      DirectoryClient directory,
      FigureSender figures,
      FallbackThreads tcp,
      MissingLinks missing,
      ControlThread control,
      Duration firstRestart) {
    this.executorId = executorId;
    this.start = start;
    this.status = status;
    this.reads = reads;
    this.directory = directory;
    this.figures = figures;
    this.tcp = tcp;
    this.missing = missing;
    this.control = control;
    this.firstRestartMs = firstRestart.toMillis();
    this.restartMs = firstRestartMs;
  }

  /** One start, after which RDMA is up or off, or another start follows. */
  void tryStart() {
    if (status.get().is(State.STOPPED) || missing.any()) {
      return;
    }
    if (!closeLost()) {
      scheduleStart();
      return;
    }
    starts++;
    int number = starts;
    Optional<OpenRdma> started = start.run(reason -> control.execute(() -> onLost(number, reason)));
    missing.check();
    if (missing.any()) {
      unclosed = started.orElse(null);
      closeLost();
      return;
    }
    if (started.isEmpty()) {
      onFailedStart(start.reasons());
      return;
    }
    // Before the state, for which tasks wait.
    reads.useRdma(started.get().transport());
    if (status.change(RuntimeStatus.up(started.get()))) {
      announce(started.get());
    } else {
      started.get().close();
    }
  }

  private void announce(OpenRdma started) {
    LOG.info("RDMA is up: {}", started.description());
    upSinceNs = System.nanoTime();
    Endpoint self = started.transport().endpoint();
    var unused = directory.publish(self).thenAccept(taken -> status.publish());
    if (directory.isAbsent()) {
      // No task waits for it.
      status.publish();
    } else {
      directory.begin();
    }
    figures.reportSoon();
    tcp.tryRun(FirstFetch.class.getName(), () -> FirstFetch.begin(started.transport(), self));
  }

  private void onFailedStart(List<String> reasons) {
    RuntimeStatus before = status.get();
    if (before.is(State.STOPPED)) {
      return;
    }
    boolean again = before.is(State.RESTARTING) || start.mayStartLater();
    boolean isNew = before.is(State.STARTING) || !reasons.equals(before.reasons());
    if (isNew) {
      LOG.warn(
          "RDMA is not used in this executor{}: {}. {}",
          again ? " until it can be started" : ", its shuffle reads use TCP",
          String.join("; ", reasons),
          RUN_DOCTOR);
    }
    if (!status.change(RuntimeStatus.down(again ? State.RESTARTING : State.OFF, reasons))) {
      return;
    }
    status.publish();
    if (isNew) {
      var unused = directory.withdraw(executorId, reasons);
    }
    figures.reportSoon();
    if (again) {
      scheduleStart();
    }
  }

  /**
   * The transport of a start cannot be used any more, as its agent reports. Open requests are
   * answered by TCP. Releasing everything lets the system remove the device.
   */
  private void onLost(int number, String reason) {
    RuntimeStatus before = status.get();
    if (number != starts || !before.is(State.UP)) {
      return;
    }
    reads.use(Way.TCP);
    if (!status.change(before, RuntimeStatus.down(State.RESTARTING, List.of(reason)))) {
      return;
    }
    LOG.warn("RDMA is not used in this executor until it can be started: {}", reason);
    if (System.nanoTime() - upSinceNs > STABLE_NS) {
      restartMs = firstRestartMs;
    }
    withdraw(before, reason);
    scheduleStart();
  }

  /** A method or field of Spark is missing: RDMA is off as long as the executor lives. */
  void turnOffForGood(String reason) {
    RuntimeStatus before = status.get();
    if (status.change(RuntimeStatus.down(State.OFF, List.of(reason)))) {
      status.publish();
      withdraw(before, reason);
    }
  }

  /** Tells the driver, and closes what was up. */
  private void withdraw(RuntimeStatus before, String reason) {
    var unused = directory.withdraw(executorId, List.of(reason));
    figures.reportSoon();
    if (before.open() != null) {
      unclosed = before.open();
      closeLost();
    }
  }

  /**
   * Whether all that earlier starts have opened is closed; goes on with a close that has failed.
   */
  private boolean closeLost() {
    if (unclosed != null && unclosed.close()) {
      unclosed = null;
    }
    return unclosed == null;
  }

  private void scheduleStart() {
    var unused = control.schedule(this::tryStart, restartMs, TimeUnit.MILLISECONDS);
    restartMs = Math.min(2 * restartMs, LAST_RESTART_MS);
  }

  /** Each second: looks for a transport that hangs, which it reports as a loss. */
  void check() {
    RuntimeStatus now = status.get();
    if (now.is(State.UP)) {
      try {
        now.open().transport().check();
      } catch (RuntimeException | LinkageError e) {
        // The next check follows; an exception here would end them.
        LOG.warn("Check of the RDMA transport failed", e);
      }
    }
  }

  /** Closes what is open; the last call. */
  void closeOpen() {
    OpenRdma open = unclosed == null ? status.get().open() : unclosed;
    if (open != null) {
      open.close();
    }
  }
}
