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
 * An event channel with a concurrent table of identifiers from which entries are removed. DiSNI's
 * own table is a plain map that several threads change at the same time, and it keeps every
 * identifier forever.
 */
final class EventChannel extends NatRdmaEventChannel {
  private final Map<Long, NatCmaIdPrivate> ids = new ConcurrentHashMap<>();

  private EventChannel(long object) throws IOException {
    super(object, 0);
  }

  static EventChannel create() throws IOException {
    try (var acquired = new Acquired()) {
      var made = (NatRdmaEventChannel) RdmaEventChannel.createEventChannel();
      acquired.add(() -> destroy(made));
      var channel = new EventChannel(made.getObjId());
      acquired.keep();
      return channel;
    }
  }

  static void destroy(RdmaEventChannel channel) throws IOException {
    Failures.check("rdma_destroy_event_channel", channel.destroyEventChannel());
  }

  @Override
  public void addCmId(NatCmaIdPrivate id) {
    ids.put(id.getObjId(), id);
  }

  @Override
  public NatCmaIdPrivate getCmId(long object) {
    return ids.get(object);
  }

  /** Called before the identifier is destroyed, because its address may be reused at once. */
  void forget(RdmaCmId id) {
    ids.remove(((NatCmaIdPrivate) id).getObjId(), id);
  }
}
