// SPDX-License-Identifier: Apache-2.0
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

/** Checks of arguments that every engine makes: against the API and the limits of the device. */
public final class LimitChecks {
  private LimitChecks() {}

  /** Memory needs at least one byte. */
  public static void checkMemory(long lengthBytes) {
    if (lengthBytes <= 0) {
      throw new IllegalArgumentException(
          "memory needs at least one byte: lengthBytes=" + lengthBytes);
    }
  }

  /** A completion queue needs at least one entry, and at most the limit of the device. */
  public static void checkCompletionQueue(int capacity, DeviceLimits limits) throws VerbsException {
    int limit = limits.maxCompletionQueueDepth();
    if (capacity < 1) {
      throw new IllegalArgumentException(
          "a completion queue needs at least one entry: capacity=" + capacity);
    }
    if (capacity > limit) {
      throw new VerbsException(
          "ibv_create_cq",
          "ibv_create_cq failed: over the limit: capacity=" + capacity + " limit=" + limit);
    }
  }

  /** A completion queue uses a vector of the device. */
  public static void checkCompletionVector(int vector, DeviceLimits limits) {
    if (vector < 0 || vector >= limits.completionVectors()) {
      throw new IllegalArgumentException(
          "no such completion vector: vector="
              + vector
              + " completionVectors="
              + limits.completionVectors());
    }
  }

  /** A region over memory: remote write access requires local write access. */
  public static void checkAccess(Set<AccessFlag> access) {
    if (access.contains(AccessFlag.REMOTE_WRITE) && !access.contains(AccessFlag.LOCAL_WRITE)) {
      throw new IllegalArgumentException("REMOTE_WRITE needs LOCAL_WRITE: access=" + access);
    }
  }

  /** A region over a file: peers may only read it. */
  public static void checkFileAccess(Set<AccessFlag> access) {
    boolean readable = access.contains(AccessFlag.REMOTE_READ);
    boolean writable =
        access.contains(AccessFlag.LOCAL_WRITE) || access.contains(AccessFlag.REMOTE_WRITE);
    if (!readable || writable) {
      throw new IllegalArgumentException("files are REMOTE_READ only: access=" + access);
    }
  }

  /** Unpinned pages require on-demand paging. */
  public static void checkOnDemand(Set<AccessFlag> access, DeviceInfo device) {
    if (access.contains(AccessFlag.ON_DEMAND) && !device.can(Capability.ON_DEMAND_PAGING)) {
      throw new UnsupportedOperationException(
          "the device has no on-demand paging: device=" + device.name());
    }
  }

  /** A range needs at least one byte and ends within the limit. */
  public static void checkRange(long offset, long lengthBytes, long limit) {
    if (lengthBytes < 1) {
      throw new IllegalArgumentException(
          "a region needs at least one byte: lengthBytes=" + lengthBytes);
    }
    Objects.checkFromIndexSize(offset, lengthBytes, limit);
  }

  /** The sizes of a queue pair are within the limits of the device. */
  public static void checkQueuePair(QueuePairSettings settings, DeviceLimits limits) {
    if (settings.sendDepth() > limits.maxQueuePairDepth()
        || settings.receiveDepth() > limits.maxQueuePairDepth()
        || settings.maxSge() > limits.maxSge()
        || settings.maxInlineBytes() > limits.maxInlineBytes()) {
      throw new IllegalArgumentException(
          "exceeds the limits of the device: "
              + sizes(settings)
              + (" maxQueuePairDepth=" + limits.maxQueuePairDepth())
              + (" maxSge=" + limits.maxSge())
              + (" maxInlineBytes=" + limits.maxInlineBytes()));
    }
  }

  /** The sizes of a queue pair, for messages. */
  public static String sizes(QueuePairSettings settings) {
    return "sendDepth="
        + settings.sendDepth()
        + (" receiveDepth=" + settings.receiveDepth())
        + (" maxSge=" + settings.maxSge())
        + (" maxInlineBytes=" + settings.maxInlineBytes());
  }

  /** Private data fits into a connection request or reply. */
  public static void checkPrivateData(byte[] privateData, int limit) {
    if (privateData.length > limit) {
      throw new IllegalArgumentException(
          "too much private data: lengthBytes=" + privateData.length + " limit=" + limit);
    }
  }

  /** Refuses a request with too many elements or bytes. */
  public static void checkLength(WorkRequest request, int maxElements, long maxBytes) {
    if (request.elementCount() > maxElements || request.totalBytes() > maxBytes) {
      throw new IllegalArgumentException(
          "exceeds the limit: elements="
              + (request.elementCount() + " limit=" + maxElements)
              + (" lengthBytes=" + request.totalBytes())
              + (" limit=" + maxBytes));
    }
  }
}
