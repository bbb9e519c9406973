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
package org.sparkrdma.verbs.ibverbs;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.ibverbs.ffi.Downcalls;
import org.sparkrdma.verbs.ibverbs.ffi.Libc;

/** A protection domain with its regions and queue pairs. Safe for any thread. */
final class IbverbsProtectionDomain implements ProtectionDomain {
  private static final Set<AccessFlag> FILE_ACCESS = Set.of(AccessFlag.REMOTE_READ);

  private final IbverbsDevice device;
  private final long pd;
  private final Set<IbverbsRegion> regions = ConcurrentHashMap.newKeySet();
  private final Set<IbverbsQueuePair> queuePairs = ConcurrentHashMap.newKeySet();
  private boolean closed;

  private IbverbsProtectionDomain(IbverbsDevice device, long pd) {
    this.device = device;
    this.pd = pd;
  }

  static IbverbsProtectionDomain allocate(IbverbsDevice device) throws VerbsException {
    long pd = device.libraries().verbs().allocPd(device.context());
    if (pd == 0) {
      throw Libraries.failure("ibv_alloc_pd", "device=" + device.info().name());
    }
    return new IbverbsProtectionDomain(device, pd);
  }

  IbverbsDevice device() {
    return device;
  }

  long pd() {
    return pd;
  }

  @Override
  public MemoryRegion register(
      HostMemory memory, long offset, long lengthBytes, Set<AccessFlag> access)
      throws VerbsException {
    if (!(memory instanceof IbverbsMemory mine) || mine.device() != device) {
      throw new IllegalArgumentException("memory of another device");
    }
    if (access.contains(AccessFlag.REMOTE_WRITE) && !access.contains(AccessFlag.LOCAL_WRITE)) {
      throw new IllegalArgumentException("REMOTE_WRITE needs LOCAL_WRITE: access=" + access);
    }
    checkRange(offset, lengthBytes, memory.lengthBytes());
    mine.retain();
    try {
      return register(mine, mine.address() + offset, lengthBytes, access, "");
    } catch (VerbsException | RuntimeException e) {
      mine.release();
      throw e;
    }
  }

  /** Maps the range only to register it: the registration alone keeps its pages. */
  @Override
  public MemoryRegion registerFile(Path file, long offset, long lengthBytes, Set<AccessFlag> access)
      throws VerbsException {
    if (!access.equals(FILE_ACCESS)) {
      throw new IllegalArgumentException("files are REMOTE_READ only: access=" + access);
    }
    checkRange(offset, lengthBytes, Long.MAX_VALUE);
    String details = "file=" + file + " offset=" + offset;
    try (Arena arena = Arena.ofConfined();
        FileChannel channel =
            FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      long fileBytes = channel.size();
      if (offset + lengthBytes > fileBytes) {
        throw new VerbsException(
            "ibv_reg_mr",
            "ibv_reg_mr failed: the file ends before the range: "
                + details
                + (" lengthBytes=" + lengthBytes + " fileBytes=" + fileBytes));
      }
      long address =
          channel.map(FileChannel.MapMode.READ_WRITE, offset, lengthBytes, arena).address();
      return register(null, address, lengthBytes, access, details);
    } catch (IOException e) {
      throw new VerbsException("ibv_reg_mr", "ibv_reg_mr failed: " + e + " " + details, e);
    }
  }

  private static void checkRange(long offset, long lengthBytes, long limit) {
    if (lengthBytes < 1) {
      throw new IllegalArgumentException("a region needs a byte: lengthBytes=" + lengthBytes);
    }
    Objects.checkFromIndexSize(offset, lengthBytes, limit);
  }

  /** Not under the lock: pinning much memory takes long, and several threads may do it at once. */
  private IbverbsRegion register(
      IbverbsMemory memory, long address, long lengthBytes, Set<AccessFlag> access, String details)
      throws VerbsException {
    int bits = device.rules().regionAccess(access);
    long mr = device.libraries().verbs().regMr(pd, address, lengthBytes, bits);
    if (mr == 0) {
      throw registrationFailure(Downcalls.errno(), lengthBytes, details);
    }
    synchronized (this) {
      if (closed) {
        device.libraries().verbs().deregMr(mr);
      }
      checkOpen();
      device.registeredBytes().addAndGet(lengthBytes);
      var region = new IbverbsRegion(this, memory, mr, address, lengthBytes, access);
      regions.add(region);
      return region;
    }
  }

  private VerbsException registrationFailure(int errno, long lengthBytes, String details) {
    String sizes =
        "lengthBytes=" + lengthBytes + " registeredBytes=" + device.registeredBytes().get();
    String hint = "";
    if (errno == Libc.ENOMEM) {
      String limit = new Machine(Path.of("/")).memlockLimit();
      hint = " memlockLimit=" + limit;
      hint +=
          limit.equals(Machine.NO_LIMIT)
              ? ": so the kernel or the device has no room for it; register less at once"
              : ": at least "
                  + (device.registeredBytes().get() + lengthBytes)
                  + " bytes are needed; raise it with ulimit -l, LimitMEMLOCK=infinity in the"
                  + " systemd unit, or --ulimit memlock=-1 for a container";
    }
    return Libraries.failure(
        "ibv_reg_mr", errno, sizes + (details.isEmpty() ? "" : " " + details) + hint);
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("protection domain is closed");
    }
  }

  synchronized void add(IbverbsQueuePair queuePair) {
    checkOpen();
    queuePairs.add(queuePair);
  }

  void onClosed(IbverbsRegion region) {
    regions.remove(region);
  }

  void onClosed(IbverbsQueuePair queuePair) {
    queuePairs.remove(queuePair);
  }

  int regionCount() {
    return regions.size();
  }

  int queuePairCount() {
    return queuePairs.size();
  }

  /** Closes it with what is left in it. */
  void closeAll() {
    queuePairs.forEach(IbverbsQueuePair::close);
    regions.forEach(IbverbsRegion::close);
    close();
  }

  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    if (!regions.isEmpty() || !queuePairs.isEmpty()) {
      throw new IllegalStateException(
          "protection domain is in use: regions="
              + regions.size()
              + (" queuePairs=" + queuePairs.size()));
    }
    closed = true;
    device.libraries().verbs().deallocPd(pd);
    device.forget(this);
  }
}
