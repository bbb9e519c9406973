// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaConnParam;
import com.ibm.disni.verbs.RdmaEventChannel;
import com.ibm.disni.verbs.impl.NatCmaIdPrivate;
import com.ibm.disni.verbs.impl.NatIbvContext;
import com.ibm.disni.verbs.impl.NatRdmaEventChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** The connection manager's calls of {@link FakeDisni}. */
final class FakeCm extends RdmaCm {
  /** The descriptor of that device. */
  static final int DESCRIPTOR = 3;

  /** The address of the device that each identifier is bound to. */
  private static final long DEVICE = 3;

  private static final SocketAddress ADDRESS =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 4_711);

  private final FakeDisni disni;
  private RdmaCmId newestId;

  FakeCm(FakeDisni disni) {
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
  public IbvQP createQP(RdmaCmId id, IbvPd pd, IbvQPInitAttr attributes) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void listen(RdmaCmId id, int backlog) throws IOException {
    disni.onCall("listen");
  }

  @Override
  public void resolveAddr(
      RdmaCmId id, SocketAddress source, SocketAddress destination, int timeoutMs) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void resolveRoute(RdmaCmId id, int timeoutMs) {
    throw new UnsupportedOperationException();
  }

  @Override
  public RdmaCmEvent getCmEvent(RdmaEventChannel channel, int timeoutMs) throws IOException {
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
    return disni.takeEvent();
  }

  @Override
  public void connect(RdmaCmId id, RdmaConnParam parameters) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void accept(RdmaCmId id, RdmaConnParam parameters) {
    throw new UnsupportedOperationException();
  }

  @Override
  public int ackCmEvent(RdmaCmEvent event) {
    throw new UnsupportedOperationException();
  }

  @Override
  public int disconnect(RdmaCmId id) {
    throw new UnsupportedOperationException();
  }

  @Override
  public int destroyQP(RdmaCmId id) {
    throw new UnsupportedOperationException();
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

  @Override
  public int destroyEp(RdmaCmId id) {
    throw new UnsupportedOperationException();
  }
}
