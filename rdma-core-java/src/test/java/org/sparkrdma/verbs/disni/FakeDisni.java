// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaProvider;
import com.ibm.disni.verbs.RdmaVerbs;
import java.io.IOException;
import java.lang.reflect.Field;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.DeviceLimits;
import org.sparkrdma.verbs.device.PortInfo;
import org.sparkrdma.verbs.device.PortState;
import org.sparkrdma.verbs.device.TransportType;

/**
 * Takes the place of libdisni while it is installed: creates DiSNI's objects without native ones,
 * records the calls that create, free and destroy them, and lets calls fail. Confined to the test's
 * thread, and to a watcher that waits for events, which the test adds.
 */
final class FakeDisni extends RdmaProvider implements AutoCloseable {
  /** Folder of the system's files. */
  static final Path ROOT = Path.of("target", "fake-disni").toAbsolutePath();

  /** Calls since the start or the last {@link #clear}. */
  private final List<String> calls = new CopyOnWriteArrayList<>();

  private final FakeCm cm = new FakeCm(this);
  private final FakeVerbs verbs = new FakeVerbs(this);
  private final List<String> failing = new CopyOnWriteArrayList<>();
  private final Queue<RdmaCmEvent> events = new ConcurrentLinkedQueue<>();

  /** DiSNI keeps its one provider in a private field, and creates the native one only when null. */
  static FakeDisni install() throws ReflectiveOperationException {
    var fake = new FakeDisni();
    providerField().set(null, fake);
    return fake;
  }

  /** Opens a device whose descriptor belongs to it. */
  DisniDevice device() throws IOException, VerbsException {
    Path descriptor = ROOT.resolve("proc/self/fd/" + FakeCm.DESCRIPTOR);
    if (!Files.isSymbolicLink(descriptor)) {
      Files.createDirectories(descriptor.getParent());
      Files.createSymbolicLink(descriptor, Path.of("/dev/infiniband/uverbs0"));
      Path name = ROOT.resolve("sys/class/infiniband_verbs/uverbs0/ibdev");
      Files.createDirectories(name.getParent());
      Files.writeString(name, "fake0\n");
    }
    return device(ROOT, "fake0");
  }

  /** The same with another name. */
  DisniDevice device(Path root, String device) throws IOException, VerbsException {
    var port =
        new PortInfo(
            1,
            PortState.ACTIVE,
            1024,
            List.of(),
            List.of(InetAddress.getByAddress(new byte[] {127, 0, 0, 1})));
    var limits = new DeviceLimits(8, 8, 2, 1, 64, 8, 1 << 20, 1 << 20, 4, 0, 1);
    return new DisniDevice(
        root,
        new DeviceInfo(
            device,
            DisniProvider.NAME,
            TransportType.INFINIBAND,
            1,
            limits,
            Set.of(),
            List.of(port)),
        this::newThread,
        closed -> calls.add("closed"));
  }

  private Thread newThread(Runnable work) {
    return new Thread(work) {
      @Override
      public synchronized void start() {
        if (failing.remove("start thread")) {
          throw new OutOfMemoryError("unable to create native thread");
        }
        super.start();
      }
    };
  }

  private static Field providerField() throws ReflectiveOperationException {
    Field provider = RdmaProvider.class.getDeclaredField("provider");
    provider.setAccessible(true);
    return provider;
  }

  /** The next use of each of these calls fails. */
  void fail(String... names) {
    failing.addAll(List.of(names));
  }

  void clear() {
    calls.clear();
  }

  List<String> calls() {
    return calls;
  }

  void onCall(String call) throws IOException {
    calls.add(call);
    failIfRequested(call);
  }

  private void failIfRequested(String call) throws IOException {
    if (failing.remove(call)) {
      throw new IOException("cannot " + call);
    }
  }

  /** The identifier that was created last. */
  RdmaCmId newestId() {
    return cm.newestId();
  }

  /** Adds an event for the watcher. */
  void raise(RdmaCmEvent event) {
    events.add(event);
  }

  /** The next event; null when there is none. Is not recorded. */
  RdmaCmEvent takeEvent() throws IOException {
    failIfRequested("get event");
    return events.poll();
  }

  @Override
  public RdmaCm openCm() {
    return cm;
  }

  @Override
  public RdmaVerbs openVerbs() {
    return verbs;
  }

  @Override
  public int getVersion() {
    return 0;
  }

  @Override
  public void close() throws ReflectiveOperationException {
    providerField().set(null, null);
  }
}
