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
package org.sparkrdma.verbs.engine;

import java.util.Objects;
import java.util.Set;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.DeviceLimits;

/** What no engine allows, and what a device's limits forbid; said alike by every engine. */
public final class LimitChecks {
  private LimitChecks() {}

  /** Memory of at least a byte. */
  public static void checkMemory(long lengthBytes) {
    if (lengthBytes <= 0) {
      throw new IllegalArgumentException("no memory asked for: lengthBytes=" + lengthBytes);
    }
  }

  /** A completion queue of at least one place, and not more than the device has. */
  public static void checkCompletionQueue(int capacity, DeviceLimits limits) throws VerbsException {
    int limit = limits.maxCompletionQueueDepth();
    if (capacity < 1) {
      throw new IllegalArgumentException("a completion queue needs room: capacity=" + capacity);
    }
    if (capacity > limit) {
      throw new VerbsException(
          "ibv_create_cq",
          "ibv_create_cq failed: over the limit: capacity=" + capacity + " limit=" + limit);
    }
  }

  /** A region over memory: no remote writing into what cannot be written here. */
  public static void checkAccess(Set<AccessFlag> access) {
    if (access.contains(AccessFlag.REMOTE_WRITE) && !access.contains(AccessFlag.LOCAL_WRITE)) {
      throw new IllegalArgumentException("REMOTE_WRITE needs LOCAL_WRITE: access=" + access);
    }
  }

  /** A region over a file: for peers to read, nothing else. */
  public static void checkFileAccess(Set<AccessFlag> access) {
    boolean readable = access.contains(AccessFlag.REMOTE_READ);
    boolean writable =
        access.contains(AccessFlag.LOCAL_WRITE) || access.contains(AccessFlag.REMOTE_WRITE);
    if (!readable || writable) {
      throw new IllegalArgumentException("files are REMOTE_READ only: access=" + access);
    }
  }

  /** Pages that are not pinned only where the device faults them in. */
  public static void checkOnDemand(Set<AccessFlag> access, DeviceInfo device) {
    if (access.contains(AccessFlag.ON_DEMAND) && !device.can(Capability.ON_DEMAND_PAGING)) {
      throw new UnsupportedOperationException(
          "the device does not page on demand: device=" + device.name());
    }
  }

  /** A range of at least one byte that ends within so many. */
  public static void checkRange(long offset, long lengthBytes, long limit) {
    if (lengthBytes < 1) {
      throw new IllegalArgumentException("a region needs a byte: lengthBytes=" + lengthBytes);
    }
    Objects.checkFromIndexSize(offset, lengthBytes, limit);
  }

  /** Sizes of a queue pair that the device has. */
  public static void checkQueuePair(QueuePairSettings settings, DeviceLimits limits) {
    if (settings.sendDepth() > limits.maxQueuePairDepth()
        || settings.receiveDepth() > limits.maxQueuePairDepth()
        || settings.maxSge() > limits.maxSge()
        || settings.maxInlineBytes() > limits.maxInlineBytes()) {
      throw new IllegalArgumentException(
          "over the device's limits: "
              + sizes(settings)
              + (" maxQueuePairDepth=" + limits.maxQueuePairDepth())
              + (" maxSge=" + limits.maxSge())
              + (" maxInlineBytes=" + limits.maxInlineBytes()));
    }
  }

  /** The sizes of a queue pair, in words. */
  public static String sizes(QueuePairSettings settings) {
    return "sendDepth="
        + settings.sendDepth()
        + (" receiveDepth=" + settings.receiveDepth())
        + (" maxSge=" + settings.maxSge())
        + (" maxInlineBytes=" + settings.maxInlineBytes());
  }

  /** Private data that fits into a request or its answer. */
  public static void checkPrivateData(byte[] privateData, int limit) {
    if (privateData.length > limit) {
      throw new IllegalArgumentException(
          "too much private data: lengthBytes=" + privateData.length + " limit=" + limit);
    }
  }

  /** Not more elements and bytes than that. */
  public static void checkLength(WorkRequest request, int maxElements, long maxBytes) {
    if (request.elementCount() > maxElements || request.totalBytes() > maxBytes) {
      throw new IllegalArgumentException(
          "over the limit: elements="
              + (request.elementCount() + " limit=" + maxElements)
              + (" lengthBytes=" + request.totalBytes())
              + (" limit=" + maxBytes));
    }
  }
}
