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
package org.sparkrdma.verbs;

/** Operation of a work request, or of a successful completion. */
public enum Opcode {
  /** Two-sided: sends into the oldest receive that the peer has posted. */
  SEND,
  /** {@link #SEND} with 32 bits of immediate data. */
  SEND_WITH_IMMEDIATE,
  /** One-sided: copies local memory into the peer's memory. */
  WRITE,
  /** {@link #WRITE} that also consumes a receive of the peer and gives it 32 bits. */
  WRITE_WITH_IMMEDIATE,
  /** One-sided: copies the peer's memory into local memory. */
  READ,
  /** A receive. */
  RECEIVE,
  /** For completions only: a receive consumed by a {@link #WRITE_WITH_IMMEDIATE}. */
  RECEIVE_WRITE_WITH_IMMEDIATE
}
