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
package org.sparkrdma.verbs.soft;

import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.WorkCompletion;
import org.sparkrdma.verbs.WorkStatus;

/** A place in a completion queue, shown as it is to whoever polls. */
final class Completion implements WorkCompletion {
  SoftQueuePair queuePair;
  boolean ofSend;
  long position;
  private long id;
  private WorkStatus status;
  private Opcode opcode;
  private long byteLength;
  private boolean hasImmediate;
  private int immediate;

  void set(SoftQueuePair owner, boolean send, long at, long requestId, WorkStatus how) {
    queuePair = owner;
    ofSend = send;
    position = at;
    id = requestId;
    status = how;
  }

  void setResult(Opcode what, long bytes, boolean withImmediate, int data) {
    opcode = what;
    byteLength = bytes;
    hasImmediate = withImmediate;
    immediate = data;
  }

  void copyFrom(Completion other) {
    set(other.queuePair, other.ofSend, other.position, other.id, other.status);
    setResult(other.opcode, other.byteLength, other.hasImmediate, other.immediate);
  }

  private Completion valid() {
    if (queuePair == null) {
      throw new IllegalStateException("a completion is only valid while it is handled");
    }
    return this;
  }

  private Completion successful() {
    if (valid().status != WorkStatus.SUCCESS) {
      throw new IllegalStateException("not known of a failed completion: status=" + status);
    }
    return this;
  }

  @Override
  public long requestId() {
    return valid().id;
  }

  @Override
  public WorkStatus status() {
    return valid().status;
  }

  @Override
  public int vendorError() {
    return valid().status == WorkStatus.SUCCESS ? 0 : status.ordinal();
  }

  @Override
  public int queuePairNumber() {
    return valid().queuePair.number();
  }

  @Override
  public Opcode opcode() {
    return successful().opcode;
  }

  @Override
  public long byteLength() {
    return successful().byteLength;
  }

  @Override
  public boolean hasImmediate() {
    return successful().hasImmediate;
  }

  @Override
  public int immediate() {
    return successful().immediate;
  }
}
