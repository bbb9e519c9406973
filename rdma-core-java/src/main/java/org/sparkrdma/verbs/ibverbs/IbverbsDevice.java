// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.engine.EngineChannel;
import org.sparkrdma.verbs.engine.EngineCompletionQueue;
import org.sparkrdma.verbs.engine.EngineConnectionManager;
import org.sparkrdma.verbs.engine.EngineDevice;
import org.sparkrdma.verbs.engine.EngineMemory;
import org.sparkrdma.verbs.engine.EngineProtectionDomain;
import org.sparkrdma.verbs.ibverbs.ffi.Libc;
import org.sparkrdma.verbs.ibverbs.ffi.SetUpCalls;

/** An open device of libibverbs. Safe for any thread. */
final class IbverbsDevice extends EngineDevice {
  /** Limit of the time in which a device flushes the posted work of a broken connection. */
  private static final long FLUSH_TIMEOUT_NS = TimeUnit.MILLISECONDS.toNanos(100);

  private static final Logger LOG = LoggerFactory.getLogger(IbverbsDevice.class);

  /**
   * Devices, by name and GUID, whose drivers have refused to change the access of a connected queue
   * pair, as hns did on Linux 5.8 (check_qp_state in hns_roce_hw_v2.c). Such a device does not
   * claim {@code QUEUE_PAIR_ACCESS} any more. Kept for the life of the process, because an engine
   * is loaded again at each start of its user.
   */
  private static final Set<String> ACCESS_REFUSALS = ConcurrentHashMap.newKeySet();

  private final Libraries libraries;
  private final Contexts contexts;
  private final long context;
  private final TransportRules rules;
  private final AsyncEvents asyncEvents;
  private final Set<CmIdentifier.Option> missingOptions = ConcurrentHashMap.newKeySet();
  private final AtomicLong registeredBytes = new AtomicLong();
  private final AtomicBoolean notReleased = new AtomicBoolean();
  private final AtomicBoolean accessRefused = new AtomicBoolean();
  private final AtomicBoolean accessChecked = new AtomicBoolean();

  /**
   * Takes over the contexts.
   *
   * @throws VerbsException when the device's events cannot be taken; the contexts stay the caller's
   */
  IbverbsDevice(
      Libraries libraries,
      Contexts contexts,
      long context,
      DeviceInfo info,
      Consumer<Device> onClosed)
      throws VerbsException {
    super(info, DeviceFacts.driver(info), FLUSH_TIMEOUT_NS, onClosed);
    this.libraries = libraries;
    this.contexts = contexts;
    this.context = context;
    rules = TransportRules.of(Contexts.transportType(context));
    LOG.debug("RDMA device opened: device={}", info.name());
    asyncEvents = AsyncEvents.acquire(libraries.verbs(), context);
  }

  Libraries libraries() {
    return libraries;
  }

  long context() {
    return context;
  }

  TransportRules rules() {
    return rules;
  }

  /**
   * Sets an option of a connection identifier, see rdma_set_option(3). Older kernels lack some:
   * such an option is logged once, and connections then use the device's default. Any thread.
   *
   * @param value 0 to 255
   * @throws VerbsException when the kernel has the option and refuses the value
   */
  void setOption(long id, CmIdentifier.Option option, int value) throws VerbsException {
    if (missingOptions.contains(option)) {
      return;
    }
    int errno = libraries.cm().setOption(id, option.number, value);
    String details = "option=RDMA_OPTION_ID_" + option + " value=" + value;
    if (errno != 0 && !Libc.isUnsupported(errno)) {
      throw Libraries.failure("rdma_set_option", errno, details);
    }
    if (errno != 0 && missingOptions.add(option)) {
      LOG.warn(
          "The kernel lacks an option, connections use the default of the device: device={}: {}",
          info().name(),
          Libraries.message("rdma_set_option", errno, details));
    }
  }

  AsyncEvents asyncEvents() {
    return asyncEvents;
  }

  /** Whether {@link #onAccessRefused} was called. Any thread. */
  boolean isAccessRefused() {
    return accessRefused.get();
  }

  static boolean hasRefusedAccess(String name, long nodeGuid) {
    return ACCESS_REFUSALS.contains(name + " " + nodeGuid);
  }

  /** Used by tests, whose simulated device has the same name in each of them. */
  static void forgetRefusals() {
    ACCESS_REFUSALS.clear();
  }

  /** True once: the caller then checks whether a change of access had its effect. Any thread. */
  boolean tryUseAccessCheck() {
    return accessChecked.compareAndSet(false, true);
  }

  /** The check could not be made: {@link #tryUseAccessCheck} is true once more. Any thread. */
  void repeatAccessCheck() {
    accessChecked.set(false);
  }

  /**
   * The driver refuses to change the access of a connected queue pair: no connection can be made,
   * until the device is opened again and does not claim to change it. Any thread.
   */
  void onAccessRefused(VerbsException refusal) {
    if (accessRefused.compareAndSet(false, true)) {
      ACCESS_REFUSALS.add(info().name() + " " + info().nodeGuid());
      asyncEvents.reportAll(
          0,
          "the driver does not change the access of connected queue pairs, other versions of the"
              + " kernel may: device="
              + info().name()
              + (": " + refusal.getMessage()));
    }
  }

  /**
   * Reports the result of a call that destroys an object. Only the first failure is an error in the
   * log: others of a device follow from it. Any thread.
   *
   * @param rc 0, or the errno
   */
  void onReleased(String call, int rc, String details) {
    if (rc == 0) {
      return;
    }
    String failure =
        Libraries.message(
            call, rc, "device=" + info().name() + (details.isEmpty() ? "" : " " + details));
    if (notReleased.compareAndSet(false, true)) {
      LOG.error(
          "The RDMA device does not release an object, which stays until this process ends; others"
              + " are logged at DEBUG: {}",
          failure);
    } else {
      LOG.debug("The RDMA device does not release an object: {}", failure);
    }
  }

  /** Destroys an identifier of librdmacm, without a queue pair. Any thread. */
  void destroyIdentifier(long id) {
    int rc = libraries().cm().destroyId(id);
    onReleased("rdma_destroy_id", rc == 0 ? 0 : SetUpCalls.errno(), "");
  }

  /** Bytes registered now; the system counts them against the memlock limit. */
  AtomicLong registeredBytes() {
    return registeredBytes;
  }

  @Override
  protected EngineMemory newMemory(long lengthBytes) throws VerbsException {
    return IbverbsMemory.allocate(this, lengthBytes);
  }

  @Override
  protected EngineProtectionDomain newProtectionDomain() throws VerbsException {
    return IbverbsProtectionDomain.allocate(this);
  }

  @Override
  protected IbverbsCompletionChannel newChannel() throws VerbsException {
    return IbverbsCompletionChannel.create(this);
  }

  @Override
  protected EngineCompletionQueue newCompletionQueue(
      int capacity, EngineChannel channel, int vector) throws VerbsException {
    return IbverbsCompletionQueue.create(
        this, capacity, (IbverbsCompletionChannel) channel, vector);
  }

  @Override
  protected EngineConnectionManager newConnectionManager(EngineChannel channel)
      throws VerbsException {
    return IbverbsConnectionManager.create(this, (IbverbsCompletionChannel) channel);
  }

  @Override
  protected void closeDevice() {
    asyncEvents.release();
    contexts.close();
  }
}
