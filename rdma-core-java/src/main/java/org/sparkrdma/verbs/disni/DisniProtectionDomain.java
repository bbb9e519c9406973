// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import com.ibm.disni.util.MemoryUtils;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.SVCRegMr;
import java.io.IOException;
import java.lang.ref.Reference;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.engine.EngineMemory;
import org.sparkrdma.verbs.engine.EngineProtectionDomain;
import org.sparkrdma.verbs.engine.EngineRegion;
import org.sparkrdma.verbs.engine.KernelDriver;
import org.sparkrdma.verbs.engine.RegionAccess;

/** A protection domain of DiSNI. Safe for any thread. */
final class DisniProtectionDomain extends EngineProtectionDomain {
  private final DisniDevice device;
  private final IbvPd pd;

  DisniProtectionDomain(DisniDevice device) throws VerbsException {
    super(device);
    this.device = device;
    pd = Failures.call("ibv_alloc_pd", "device=" + device.info().name(), device.context()::allocPd);
  }

  KernelDriver driver() {
    return device.driver();
  }

  IbvPd pd() {
    return pd;
  }

  @Override
  protected EngineRegion registerMemory(
      EngineMemory memory, long offset, long lengthBytes, Set<AccessFlag> access)
      throws VerbsException {
    return Failures.call(
        "ibv_reg_mr",
        "lengthBytes=" + lengthBytes,
        () -> register(memory, memory.address() + offset, (int) lengthBytes, access));
  }

  @Override
  protected EngineRegion registerRange(
      Path file, long offset, long lengthBytes, Set<AccessFlag> access) throws VerbsException {
    return Failures.call(
        "ibv_reg_mr",
        "file=" + file + " offset=" + offset + " lengthBytes=" + lengthBytes,
        () -> mapAndRegister(file, offset, lengthBytes, access));
  }

  /** Maps the range only to register it: the registration keeps its pages. */
  private DisniRegion mapAndRegister(
      Path file, long offset, long lengthBytes, Set<AccessFlag> access) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      long fileBytes = channel.size();
      if (offset + lengthBytes > fileBytes || lengthBytes > DisniEngine.MAX_REGION_BYTES) {
        throw new IOException(
            "the range is too long: fileBytes="
                + fileBytes
                + (" limit=" + DisniEngine.MAX_REGION_BYTES));
      }
      MappedByteBuffer mapped = channel.map(FileChannel.MapMode.READ_WRITE, offset, lengthBytes);
      try {
        return register(null, MemoryUtils.getAddress(mapped), (int) lengthBytes, access);
      } finally {
        Reference.reachabilityFence(mapped);
      }
    }
  }

  private DisniRegion register(
      EngineMemory memory, long address, int lengthBytes, Set<AccessFlag> access)
      throws IOException {
    int bits = RegionAccess.bits(device.info().transport(), access);
    // The ibv_reg_mr of DiSNI takes no optional flags.
    SVCRegMr call = pd.regMr(address, lengthBytes, bits & ~RegionAccess.RELAXED_ORDERING);
    try {
      return new DisniRegion(this, memory, call.execute().getMr(), access);
    } finally {
      call.free();
    }
  }

  @Override
  protected void destroy() {
    Failures.release("ibv_dealloc_pd", pd::deallocPd);
  }
}
