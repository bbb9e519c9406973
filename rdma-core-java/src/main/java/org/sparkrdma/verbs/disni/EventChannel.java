// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import com.ibm.disni.verbs.impl.NatCmaIdPrivate;
import com.ibm.disni.verbs.impl.NatRdmaEventChannel;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.sparkrdma.verbs.VerbsException;

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

  static EventChannel create() throws VerbsException {
    return Failures.call(
        "rdma_create_event_channel",
        "",
        () -> {
          var created = (NatRdmaEventChannel) RdmaEventChannel.createEventChannel();
          return new EventChannel(created.getObjId());
        });
  }

  void destroy() {
    Failures.release("rdma_destroy_event_channel", this::destroyEventChannel);
  }

  /** Destroys an identifier and drops what the kernel still reports of it. */
  void destroy(RdmaCmId id) {
    // First, because its address may be reused at once.
    ids.remove(((NatCmaIdPrivate) id).getObjId(), id);
    Failures.release("rdma_destroy_id", id::destroyId);
  }

  @Override
  public void addCmId(NatCmaIdPrivate id) {
    ids.put(id.getObjId(), id);
  }

  @Override
  public NatCmaIdPrivate getCmId(long object) {
    return ids.get(object);
  }
}
