// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvRecvWR;
import com.ibm.disni.verbs.IbvSge;
import com.ibm.disni.verbs.SVCPostRecv;
import java.io.IOException;
import java.util.LinkedList;
import java.util.List;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.engine.Driver;

/**
 * DiSNI's prepared calls that post receives. Their fields cannot be changed, so they are cached by
 * the memory that they name: receiving into the same buffers again allocates nothing. All have the
 * same work request id, because receives complete in the order posted. Confined to the queue pair's
 * owner thread; closed with the queue pair.
 */
final class ReceiveCalls implements AutoCloseable {
  private static final long SCATTER = 0x9E37_79B9_7F4A_7C15L;

  private final IbvQP qp;
  private final Driver driver;
  private final long number;
  private final CachedCall[] cached;
  private final int shift;

  private record CachedCall(long address, int length, int localKey, SVCPostRecv call) {
    boolean isFor(long wantedAddress, int wantedLength, int wantedKey) {
      return address == wantedAddress && length == wantedLength && localKey == wantedKey;
    }
  }

  /** At most twice as many calls as the queue's depth are cached. */
  ReceiveCalls(IbvQP qp, Driver driver, int depth, long number) {
    this.qp = qp;
    this.driver = driver;
    this.number = number;
    int size = Integer.highestOneBit(depth) * 4;
    cached = new CachedCall[size];
    shift = Long.SIZE - Integer.numberOfTrailingZeros(size);
  }

  void post(WorkRequest request) throws IOException {
    if (request.elementCount() == 1) {
      cachedCall(request).execute();
    } else {
      SVCPostRecv once = prepare(request);
      once.execute();
      once.free();
    }
  }

  private SVCPostRecv cachedCall(WorkRequest request) throws IOException {
    var region = (DisniRegion) request.region(0);
    long address = region.address() + request.offset(0);
    int length = request.length(0);
    int index = (int) ((address * SCATTER) >>> shift);
    CachedCall there = cached[index];
    if (there == null || !there.isFor(address, length, region.localKey())) {
      var prepared = new CachedCall(address, length, region.localKey(), prepare(request));
      cached[index] = prepared;
      if (there != null) {
        there.call.free();
      }
      return prepared.call;
    }
    return there.call;
  }

  @SuppressWarnings("JdkObsolete") // DiSNI requires this class of list.
  private SVCPostRecv prepare(WorkRequest request) throws IOException {
    var elements = new LinkedList<IbvSge>();
    for (int i = 0; i < request.elementCount(); i++) {
      var region = (DisniRegion) request.region(i);
      var element = new IbvSge();
      element.setAddr(region.address() + request.offset(i));
      element.setLength(request.length(i));
      element.setLkey(region.localKey());
      elements.add(element);
    }
    if (elements.isEmpty() && driver.elementCount(request) == 1) {
      elements.add(new IbvSge());
    }
    var work = new IbvRecvWR();
    work.setWr_id(number);
    work.setSg_list(elements);
    work.setNum_sge(elements.size());
    return qp.postRecv(List.of(work), null);
  }

  @Override
  public void close() {
    for (CachedCall call : cached) {
      if (call != null) {
        call.call.free();
      }
    }
  }
}
