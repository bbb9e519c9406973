// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.sparkrdma.verbs.ibverbs.ffi.JffiLibrary;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvDevice;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvDeviceAttr;
import org.sparkrdma.verbs.ibverbs.ffi.Libc;
import org.sparkrdma.verbs.ibverbs.ffi.Native;
import org.sparkrdma.verbs.ibverbs.ffi.NativeArena;
import org.sparkrdma.verbs.ibverbs.ffi.SetUpCalls;
import org.sparkrdma.verbs.ibverbs.ffi.VerbsLibrary;
import org.sparkrdma.verbs.spi.EngineUnavailableException;

/**
 * Facts of every verbs device of this host, also of those that the plug-in cannot use, such as EFA:
 * limits, and which objects the device creates. Connects nothing and sends nothing. An object that
 * the device refuses has its errno.
 *
 * @param host has the name of the driver
 * @param folder for a file of one page, which is registered and deleted
 */
record VerbsFacts(HostFacts host, Path folder) {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** IBV_ACCESS_REMOTE_READ. */
  private static final int REMOTE_READ = 1 << 2;

  private static final int QUEUE_ENTRIES = 16;
  private static final long NO_MAPPING = -1;
  private static final String YES = "yes";

  /** Limits by the names of ibv_devinfo(1). */
  private static final Map<String, Integer> LIMITS = limits();

  private static Map<String, Integer> limits() {
    Map<String, Integer> limits = new LinkedHashMap<>();
    limits.put("max_qp", IbvDeviceAttr.MAX_QP);
    limits.put("max_qp_wr", IbvDeviceAttr.MAX_QP_WR);
    limits.put("max_sge", IbvDeviceAttr.MAX_SGE);
    limits.put("max_sge_rd", IbvDeviceAttr.MAX_SGE_RD);
    limits.put("max_cqe", IbvDeviceAttr.MAX_CQE);
    limits.put("max_mr", IbvDeviceAttr.MAX_MR);
    limits.put("max_qp_rd_atom", IbvDeviceAttr.MAX_QP_RD_ATOM);
    return limits;
  }

  /**
   * Opens each device, and closes it again.
   *
   * @throws NotUsableException when libibverbs cannot be used
   */
  ArrayNode ofAllDevices() throws IOException {
    VerbsLibrary verbs;
    try {
      JffiLibrary.check();
      verbs = VerbsLibrary.load();
    } catch (EngineUnavailableException | IllegalArgumentException e) {
      throw new NotUsableException("libibverbs cannot be used on this host: " + e.getMessage());
    }
    return of(verbs);
  }

  /** As {@link #ofAllDevices()}, by this library. */
  ArrayNode of(VerbsLibrary verbs) throws IOException {
    ArrayNode all = JSON.createArrayNode();
    try (NativeArena arena = new NativeArena()) {
      long list = verbs.getDeviceList(arena.allocate(Integer.BYTES));
      if (list != 0) {
        for (long at = list; Native.getLong(at) != 0; at += Long.BYTES) {
          addDevice(all.addObject(), verbs, arena, Native.getLong(at));
        }
        verbs.freeDeviceList(list);
      }
    }
    return all;
  }

  private void addDevice(ObjectNode node, VerbsLibrary verbs, NativeArena arena, long device)
      throws IOException {
    String name = Native.string(device + IbvDevice.NAME);
    node.put("name", name);
    node.put("transport", Native.getInt(device + IbvDevice.TRANSPORT_TYPE));
    long context = verbs.openDevice(device);
    node.put("opened", result(context));
    if (context == 0) {
      return;
    }
    long attributes = arena.allocate(IbvDeviceAttr.SIZE);
    node.put("queryErrno", verbs.queryDevice(context, attributes));
    node.put("firmware", Native.string(attributes));
    String vendorId = "0x" + hexadecimal(attributes + IbvDeviceAttr.VENDOR_ID);
    node.put("vendorId", vendorId);
    node.put("driver", host.driver(name, vendorId));
    node.put("partId", "0x" + hexadecimal(attributes + IbvDeviceAttr.VENDOR_PART_ID));
    LIMITS.forEach((limit, offset) -> node.put(limit, Native.getInt(attributes + offset)));
    addQueue(node, verbs, context);
    long domain = verbs.allocPd(context);
    node.put("protectionDomain", result(domain));
    if (domain != 0) {
      int pageBytes = Libc.pageBytes();
      node.put("memoryForRemoteRead", register(verbs, domain, arena.allocate(2L * pageBytes)));
      String readOnly = registerFile(verbs, domain, pageBytes, false);
      node.put("readOnlyFileForRemoteRead", readOnly);
      // A kernel that refuses this may write a file of a writable mapping, on NFS for minutes.
      String fileSystem = host.fileSystem(folder);
      node.put(
          "fileForRemoteRead",
          fileSystem.startsWith("nfs") && !readOnly.equals(YES)
              ? "not tried: the kernel may write files of "
                  + fileSystem
                  + " again; use a folder on a local disk"
              : registerFile(verbs, domain, pageBytes, true));
      verbs.deallocPd(domain);
    }
    verbs.closeDevice(context);
  }

  private static String hexadecimal(long address) {
    return Integer.toHexString(Native.getInt(address));
  }

  /** A completion queue that wakes its reader by a channel. */
  private static void addQueue(ObjectNode node, VerbsLibrary verbs, long context) {
    long channel = verbs.createCompChannel(context);
    node.put("completionChannel", result(channel));
    if (channel != 0) {
      long queue = verbs.createCq(context, QUEUE_ENTRIES, channel, 0);
      node.put("completionQueueWithChannel", result(queue));
      if (queue != 0) {
        verbs.destroyCq(queue);
      }
      verbs.destroyCompChannel(channel);
    }
  }

  private static String register(VerbsLibrary verbs, long domain, long address) {
    long region = verbs.regMr(domain, address, Libc.pageBytes(), REMOTE_READ);
    String result = result(region);
    if (region != 0) {
      verbs.deregMr(region);
    }
    return result;
  }

  /**
   * A page of the page cache, as the plug-in registers map outputs. Linux before 6.2 refuses one
   * that cannot be written, with EFAULT, which is errno 14.
   */
  private String registerFile(VerbsLibrary verbs, long domain, int pageBytes, boolean writable)
      throws IOException {
    Path file = Files.createTempFile(folder, "card-", ".page");
    try {
      Files.write(file, new byte[pageBytes]);
      int descriptor = Libc.openFile(file, writable);
      long address = Libc.mapFile(descriptor, 0, pageBytes, writable);
      Libc.close(descriptor);
      if (address == NO_MAPPING) {
        return "not mapped";
      }
      String result = register(verbs, domain, address);
      Libc.unmap(address, pageBytes);
      return result;
    } finally {
      Files.delete(file);
    }
  }

  /**
   * @param object 0 when the device refused it
   */
  private static String result(long object) {
    return object == 0 ? "no, errno=" + SetUpCalls.errno() : YES;
  }
}
