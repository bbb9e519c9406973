// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import com.ibm.disni.verbs.impl.NatCmaIdPrivate;
import com.ibm.disni.verbs.impl.NatRdmaEventChannel;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * An event channel whose table of identifiers bears several threads and can forget. DiSNI's own is
 * a plain map that events and new identifiers change at the same time, and that keeps every
 * identifier there ever was.
 */
final class EventChannel extends NatRdmaEventChannel {
  private final Map<Long, NatCmaIdPrivate> ids = new ConcurrentHashMap<>();

  private EventChannel(long object) throws IOException {
    super(object, 0);
  }

  static EventChannel create() throws IOException {
    var made = (NatRdmaEventChannel) RdmaEventChannel.createEventChannel();
    return new EventChannel(made.getObjId());
  }

  @Override
  public void addCmId(NatCmaIdPrivate id) {
    ids.put(id.getObjId(), id);
  }

  @Override
  public NatCmaIdPrivate getCmId(long object) {
    return ids.get(object);
  }

  /** To be called before the identifier is destroyed, for its place may be used again at once. */
  void forget(RdmaCmId id) {
    ids.remove(((NatCmaIdPrivate) id).getObjId(), id);
  }
}
