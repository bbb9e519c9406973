// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.net.InetSocketAddress;
import java.util.OptionalInt;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.GidSocketAddress;
import org.sparkrdma.verbs.ibverbs.ffi.CmLibrary;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.RdmaCmId;
import org.sparkrdma.verbs.ibverbs.ffi.Memory;
import org.sparkrdma.verbs.ibverbs.ffi.NativeArena;
import org.sparkrdma.verbs.ibverbs.ffi.SocketAddresses;

/**
 * Creates the identifiers whose events come through one channel of librdmacm, and binds those of
 * listeners. Its caller destroys an identifier that it gets. Safe for any thread.
 */
final class IdentifierFactory {
  private final IbverbsDevice device;
  private final CmLibrary cm;
  private final long channel;

  IdentifierFactory(IbverbsDevice device, long channel) {
    this.device = device;
    this.channel = channel;
    cm = device.libraries().cm();
  }

  /**
   * Creates an identifier.
   *
   * @param trafficClass of the connection; empty is that of the system
   */
  long create(OptionalInt trafficClass) throws VerbsException {
    try (NativeArena one = new NativeArena()) {
      long id = one.allocate(Long.BYTES);
      if (cm.createId(channel, id) != 0) {
        throw Libraries.failure("rdma_create_id", "");
      }
      return withTrafficClass(Memory.getLong(id), trafficClass);
    }
  }

  /** Called before the address is bound or resolved, since the route takes the class then. */
  private long withTrafficClass(long id, OptionalInt trafficClass) throws VerbsException {
    boolean set = false;
    try {
      if (trafficClass.isPresent()) {
        device.options().set(id, CmOptions.Option.TOS, trafficClass.getAsInt());
      }
      set = true;
      return id;
    } finally {
      if (!set) {
        device.destroyIdentifier(id);
      }
    }
  }

  /**
   * Binds an identifier to an address of the device.
   *
   * @throws VerbsException also when the address belongs to another device
   */
  void bind(long id, InetSocketAddress address) throws VerbsException {
    try (NativeArena one = new NativeArena()) {
      long socket = one.allocate(SocketAddresses.SIZE);
      SocketAddresses.write(socket, address);
      if (cm.bindAddr(id, socket) != 0) {
        throw Libraries.failure("rdma_bind_addr", "address=" + address + remedy(address));
      }
    }
    String other = otherDevice(id);
    if (other != null) {
      throw new VerbsException(
          "rdma_bind_addr",
          "rdma_bind_addr failed: the address belongs to another device: address="
              + address
              + (" device=" + other + " wanted=" + device.info().name()));
    }
  }

  /**
   * librdmacm tests at its start whether the kernel has AF_IB, and refuses such addresses without
   * it (ucma_set_af_ib_support and ucma_addrlen in its cma.c).
   */
  private static String remedy(InetSocketAddress address) {
    return address instanceof GidSocketAddress
        ? ": the kernel or librdmacm may lack AF_IB, so give the port an IP address (IPoIB)"
        : "";
  }

  /** The device that an identifier was bound to, when it is a different one; else null. */
  String otherDevice(long id) {
    long context = Memory.getLong(id + RdmaCmId.VERBS);
    return context == 0 || context == device.context() ? null : Contexts.name(context);
  }
}
