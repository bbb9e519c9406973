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
package org.sparkrdma.shuffle.transport;

import java.util.List;
import org.sparkrdma.shuffle.fetch.BlockProgress;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/**
 * Why a connection must be closed, and which blocks caused it.
 *
 * @param reason fallback reason of the blocks at fault
 * @param detail a few words for a log, without secrets
 * @param atFault blocks that use TCP; other requests on that connection are reissued on a new one
 */
record BrokenConnection(FallbackReason reason, String detail, List<BlockProgress> atFault) {
  static BrokenConnection connectionLost(String detail) {
    return new BrokenConnection(FallbackReason.LOST_PEER, detail, List.of());
  }
}
