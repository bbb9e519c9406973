// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import com.ibm.disni.verbs.RdmaProvider;
import com.ibm.disni.verbs.RdmaVerbs;
import com.ibm.disni.verbs.SVCPollCq;
import com.ibm.disni.verbs.SVCReqNotify;
import com.ibm.disni.verbs.impl.NatCmaIdPrivate;
import com.ibm.disni.verbs.impl.NatIbvContext;
import com.ibm.disni.verbs.impl.NatRdmaEventChannel;
import com.ibm.disni.verbs.impl.RdmaCmNat;
import com.ibm.disni.verbs.impl.RdmaVerbsNat;
import java.io.IOException;
import java.lang.reflect.Field;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
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

  /** The descriptor of the device that each identifier is bound to. */
  private static final int DESCRIPTOR = 3;

  /** Calls since the start or the last {@link #clear}. */
  private final List<String> calls = new CopyOnWriteArrayList<>();

  private final List<String> failing = new CopyOnWriteArrayList<>();
  private final Queue<RdmaCmEvent> events = new ConcurrentLinkedQueue<>();
  private final RdmaCm cm = new Cm();
  private final RdmaVerbs verbs = new Verbs();
  private RdmaCmId newestId;

  /** DiSNI keeps its one provider in a private field, and creates the native one only when null. */
  static FakeDisni install() throws ReflectiveOperationException {
    var fake = new FakeDisni();
    providerField().set(null, fake);
    return fake;
  }

  /** Opens a device whose descriptor belongs to it. */
  DisniDevice device() throws IOException, VerbsException {
    Path descriptor = ROOT.resolve("proc/self/fd/" + DESCRIPTOR);
    if (!Files.isSymbolicLink(descriptor)) {
      Files.createDirectories(descriptor.getParent());
      Files.createSymbolicLink(descriptor, Path.of("/dev/infiniband/uverbs0"));
      Path name = ROOT.resolve("sys/class/infiniband_verbs/uverbs0/ibdev");
      Files.createDirectories(name.getParent());
      Files.writeString(name, "fake0\n");
    }
    return device("fake0");
  }

  /** The same with another name. */
  DisniDevice device(String device) throws VerbsException {
    var address = InetAddress.getLoopbackAddress();
    var port = new PortInfo(1, PortState.ACTIVE, 1024, List.of(), List.of(address));
    var limits = new DeviceLimits(8, 8, 2, 1, 64, 8, 1 << 20, 1 << 20, 4, 0, 1);
    var transport = TransportType.INFINIBAND;
    return new DisniDevice(
        ROOT,
        new DeviceInfo(device, DisniProvider.NAME, transport, 1, limits, Set.of(), List.of(port)),
        this::newThread,
        closed -> calls.add("closed"));
  }

  private Thread newThread(Runnable work) {
    return new Thread(work) {
      @Override
      public synchronized void start() {
        if (failing.remove("start thread")) {
          throw new OutOfMemoryError("cannot start thread");
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

  private int onCall(String call) throws IOException {
    calls.add(call);
    failIfRequested(call);
    return 0;
  }

  private void failIfRequested(String call) throws IOException {
    if (failing.remove(call)) {
      throw new IOException("cannot " + call);
    }
  }

  /** The identifier that was created last. */
  RdmaCmId newestId() {
    return newestId;
  }

  /** Adds an event for the watcher. */
  void raise(RdmaCmEvent event) {
    events.add(event);
  }

  /** An identifier that is bound to the device. */
  static RdmaCmId newId(RdmaEventChannel channel) throws IOException {
    var id = new NatCmaIdPrivate(1, channel, null);
    id.setVerbs(
        new NatIbvContext(1, null) {
          @Override
          public int getCmd_fd() {
            return DESCRIPTOR;
          }
        });
    return id;
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

  /** The connection manager. */
  private final class Cm extends RdmaCmNat {
    private static final SocketAddress ADDRESS =
        new InetSocketAddress(InetAddress.getLoopbackAddress(), 4_711);

    Cm() {
      // Without a library: other calls fail.
      super(null);
    }

    @Override
    public RdmaEventChannel createEventChannel() throws IOException {
      onCall("create event channel");
      return new NatRdmaEventChannel(1, 0);
    }

    @Override
    public int destroyEventChannel(RdmaEventChannel channel) throws IOException {
      return onCall("destroy event channel");
    }

    @Override
    public RdmaCmId createId(RdmaEventChannel channel, short space) throws IOException {
      onCall("create id");
      newestId = newId(channel);
      return newestId;
    }

    @Override
    public void bindAddr(RdmaCmId id, SocketAddress address) throws IOException {
      onCall("bind");
    }

    @Override
    public int destroyCmId(RdmaCmId id) throws IOException {
      return onCall("destroy id");
    }

    @Override
    public void listen(RdmaCmId id, int backlog) throws IOException {
      onCall("listen");
    }

    /** The next event; null when there is none. Is not recorded. */
    @Override
    public RdmaCmEvent getCmEvent(RdmaEventChannel channel, int timeoutMs) throws IOException {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
      failIfRequested("get event");
      return events.poll();
    }

    @Override
    public SocketAddress getSrcAddr(RdmaCmId id) throws IOException {
      onCall("get address");
      return ADDRESS;
    }

    @Override
    public SocketAddress getDstAddr(RdmaCmId id) throws IOException {
      onCall("get peer");
      return ADDRESS;
    }
  }

  private final class Verbs extends RdmaVerbsNat {
    Verbs() {
      // Without a library: other calls fail.
      super(null);
    }

    @Override
    public IbvCompChannel createCompChannel(IbvContext context) throws IOException {
      onCall("create completion channel");
      return new IbvCompChannel(0, context) {};
    }

    @Override
    public int destroyCompChannel(IbvCompChannel channel) throws IOException {
      return onCall("destroy completion channel");
    }

    @Override
    public IbvCQ createCQ(IbvContext context, IbvCompChannel channel, int capacity, int vector)
        throws IOException {
      onCall("create queue");
      return new FakeQueue(context, channel);
    }

    @Override
    public int destroyCQ(IbvCQ queue) throws IOException {
      return onCall("destroy queue");
    }
  }

  private final class FakeQueue extends IbvCQ {
    FakeQueue(IbvContext context, IbvCompChannel channel) throws IOException {
      super(context, channel, 0);
    }

    @Override
    public SVCPollCq poll(IbvWC[] completions, int count) throws IOException {
      onCall("prepare poll");
      return new SVCPollCq() {
        @Override
        public int getPolls() {
          return 0;
        }

        @Override
        public SVCPollCq execute() {
          return this;
        }

        @Override
        public boolean isValid() {
          return true;
        }

        @Override
        public SVCPollCq free() {
          calls.add("free poll");
          return this;
        }
      };
    }

    @Override
    public SVCReqNotify reqNotification(boolean solicited) throws IOException {
      onCall("prepare notification");
      return new SVCReqNotify() {
        @Override
        public SVCReqNotify execute() {
          return this;
        }

        @Override
        public boolean isValid() {
          return true;
        }

        @Override
        public SVCReqNotify free() {
          return this;
        }
      };
    }
  }
}
