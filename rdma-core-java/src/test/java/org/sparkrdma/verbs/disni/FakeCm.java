// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import com.ibm.disni.verbs.impl.NatCmaIdPrivate;
import com.ibm.disni.verbs.impl.NatIbvContext;
import com.ibm.disni.verbs.impl.NatRdmaEventChannel;
import com.ibm.disni.verbs.impl.RdmaCmNat;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** The connection manager's calls of {@link FakeDisni}. */
final class FakeCm extends RdmaCmNat {
  /** The descriptor of that device. */
  static final int DESCRIPTOR = 3;

  /** The address of the device that each identifier is bound to. */
  private static final long DEVICE = 3;

  private static final SocketAddress ADDRESS =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 4_711);

  private final FakeDisni disni;
  private RdmaCmId newestId;

  FakeCm(FakeDisni disni) {
    // Without a library: other calls fail.
    super(null);
    this.disni = disni;
  }

  RdmaCmId newestId() {
    return newestId;
  }

  @Override
  public RdmaEventChannel createEventChannel() throws IOException {
    disni.onCall("create event channel");
    return new NatRdmaEventChannel(1, 0);
  }

  @Override
  public int destroyEventChannel(RdmaEventChannel channel) throws IOException {
    disni.onCall("destroy event channel");
    return 0;
  }

  @Override
  public RdmaCmId createId(RdmaEventChannel channel, short space) throws IOException {
    disni.onCall("create id");
    newestId = newId(channel);
    return newestId;
  }

  /** An identifier that is bound to the device. */
  static RdmaCmId newId(RdmaEventChannel channel) throws IOException {
    var id = new NatCmaIdPrivate(1, channel, null);
    id.setVerbs(
        new NatIbvContext(DEVICE, null) {
          @Override
          public int getCmd_fd() {
            return DESCRIPTOR;
          }
        });
    return id;
  }

  @Override
  public void bindAddr(RdmaCmId id, SocketAddress address) throws IOException {
    disni.onCall("bind");
  }

  @Override
  public int destroyCmId(RdmaCmId id) throws IOException {
    disni.onCall("destroy id");
    return 0;
  }

  @Override
  public void listen(RdmaCmId id, int backlog) throws IOException {
    disni.onCall("listen");
  }

  @Override
  public RdmaCmEvent getCmEvent(RdmaEventChannel channel, int timeoutMs) throws IOException {
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
    return disni.takeEvent();
  }

  @Override
  public SocketAddress getSrcAddr(RdmaCmId id) throws IOException {
    disni.onCall("get address");
    return ADDRESS;
  }

  @Override
  public SocketAddress getDstAddr(RdmaCmId id) throws IOException {
    disni.onCall("get peer");
    return ADDRESS;
  }
}
