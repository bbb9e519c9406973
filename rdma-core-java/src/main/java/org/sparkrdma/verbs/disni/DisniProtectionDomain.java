// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import com.ibm.disni.util.MemoryUtils;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.SVCRegMr;
import java.io.IOException;
import java.lang.ref.Reference;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.engine.EngineMemory;
import org.sparkrdma.verbs.engine.EngineProtectionDomain;
import org.sparkrdma.verbs.engine.EngineRegion;
import org.sparkrdma.verbs.engine.RegionAccess;

/** A protection domain of DiSNI. Safe for any thread. */
final class DisniProtectionDomain extends EngineProtectionDomain {
  private static final Logger LOG = LoggerFactory.getLogger(DisniProtectionDomain.class);

  private final DisniDevice device;
  private final IbvPd pd;

  private DisniProtectionDomain(DisniDevice device, IbvPd pd) {
    super(device);
    this.device = device;
    this.pd = pd;
  }

  static DisniProtectionDomain allocate(DisniDevice device) throws VerbsException {
    try {
      return new DisniProtectionDomain(device, device.context().allocPd());
    } catch (IOException e) {
      throw Failures.of("ibv_alloc_pd", e, "device=" + device.info().name());
    }
  }

  DisniDevice device() {
    return device;
  }

  IbvPd pd() {
    return pd;
  }

  @Override
  protected EngineRegion registerMemory(
      EngineMemory memory, long offset, long lengthBytes, Set<AccessFlag> access)
      throws VerbsException {
    try {
      return register(memory, memory.address() + offset, (int) lengthBytes, access);
    } catch (IOException e) {
      throw Failures.of("ibv_reg_mr", e, "lengthBytes=" + lengthBytes);
    }
  }

  /** Maps the range only to register it: the registration keeps its pages. */
  @Override
  protected EngineRegion registerRange(
      Path file, long offset, long lengthBytes, Set<AccessFlag> access) throws VerbsException {
    String range = "file=" + file + " offset=" + offset + " lengthBytes=" + lengthBytes;
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      long fileBytes = channel.size();
      if (offset + lengthBytes > fileBytes || lengthBytes > SystemDevices.MAX_REGION_BYTES) {
        throw new IOException(
            "the range is too long: fileBytes="
                + fileBytes
                + (" limit=" + SystemDevices.MAX_REGION_BYTES));
      }
      MappedByteBuffer mapped = channel.map(FileChannel.MapMode.READ_WRITE, offset, lengthBytes);
      try {
        return register(null, MemoryUtils.getAddress(mapped), (int) lengthBytes, access);
      } finally {
        Reference.reachabilityFence(mapped);
      }
    } catch (IOException e) {
      throw Failures.of("ibv_reg_mr", e, range);
    }
  }

  private DisniRegion register(
      EngineMemory memory, long address, int lengthBytes, Set<AccessFlag> access)
      throws IOException {
    int bits = RegionAccess.bits(device.info().transport(), access);
    // The ibv_reg_mr of DiSNI takes no optional flags.
    SVCRegMr call = pd.regMr(address, lengthBytes, bits & ~RegionAccess.RELAXED_ORDERING);
    try {
      IbvMr mr = call.execute().getMr();
      return new DisniRegion(this, memory, mr, access);
    } finally {
      call.free();
    }
  }

  // The only method of DiSNI that declares Exception.
  @Override
  protected void destroy() {
    try {
      Failures.check("ibv_dealloc_pd", pd.deallocPd());
    } catch (Exception e) {
      LOG.error("Protection domain was not deallocated: device={}", device.info().name(), e);
    }
  }
}
