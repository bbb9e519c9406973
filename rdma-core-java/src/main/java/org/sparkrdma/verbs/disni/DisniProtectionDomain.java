/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
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
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.engine.DomainMembers;
import org.sparkrdma.verbs.engine.LimitChecks;

/** A protection domain with its regions and queue pairs. Safe for any thread. */
final class DisniProtectionDomain implements ProtectionDomain {
  private static final Logger LOG = LoggerFactory.getLogger(DisniProtectionDomain.class);

  private final DisniDevice device;
  private final IbvPd pd;
  private final DomainMembers<DisniRegion, DisniQueuePair> members = new DomainMembers<>();

  private DisniProtectionDomain(DisniDevice device, IbvPd pd) {
    this.device = device;
    this.pd = pd;
  }

  static DisniProtectionDomain allocate(DisniDevice device) throws VerbsException {
    try {
      return new DisniProtectionDomain(device, device.context().context().allocPd());
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
  public MemoryRegion register(
      HostMemory memory, long offset, long lengthBytes, Set<AccessFlag> access)
      throws VerbsException {
    if (!(memory instanceof DisniMemory mine) || mine.device() != device) {
      throw new IllegalArgumentException("memory of another device");
    }
    LimitChecks.checkAccess(access);
    LimitChecks.checkRange(offset, lengthBytes, memory.lengthBytes());
    mine.retain();
    try {
      return register(mine, mine.address() + offset, (int) lengthBytes, access);
    } catch (IOException e) {
      mine.release();
      throw Failures.of("ibv_reg_mr", e, "lengthBytes=" + lengthBytes);
    } catch (RuntimeException e) {
      mine.release();
      throw e;
    }
  }

  /** Maps the range only to register it: the registration alone keeps its pages. */
  @Override
  public MemoryRegion registerFile(Path file, long offset, long lengthBytes, Set<AccessFlag> access)
      throws VerbsException {
    LimitChecks.checkFileAccess(access);
    LimitChecks.checkRange(offset, lengthBytes, Long.MAX_VALUE);
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
      DisniMemory memory, long address, int lengthBytes, Set<AccessFlag> access)
      throws IOException {
    SVCRegMr call = pd.regMr(address, lengthBytes, device.rules().regionAccess(access));
    IbvMr mr = call.execute().getMr();
    call.free();
    synchronized (this) {
      if (members.isClosed()) {
        mr.deregMr().execute().free();
      }
      members.checkOpen();
      var region = new DisniRegion(this, memory, mr, access);
      members.add(region);
      return region;
    }
  }

  synchronized void add(DisniQueuePair queuePair) {
    members.add(queuePair);
  }

  void onClosed(DisniRegion region) {
    members.remove(region);
  }

  void onClosed(DisniQueuePair queuePair) {
    members.remove(queuePair);
  }

  int regionCount() {
    return members.regionCount();
  }

  int queuePairCount() {
    return members.queuePairCount();
  }

  /** Closes it with what is left in it. */
  void closeAll() {
    members.closeAll();
    close();
  }

  @Override
  public synchronized void close() {
    if (!members.markClosed()) {
      return;
    }
    deallocate();
    device.forget(this);
  }

  // DiSNI declares Exception here, and nothing else does.
  private void deallocate() {
    try {
      Failures.check("ibv_dealloc_pd", pd.deallocPd());
    } catch (Exception e) {
      LOG.error("protection domain was not deallocated: device={}", device.info().name(), e);
    }
  }
}
