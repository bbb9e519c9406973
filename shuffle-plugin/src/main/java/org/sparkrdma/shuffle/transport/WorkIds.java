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

/**
 * The 64 bits of a work request's id.
 *
 * <pre>
 *   63      62 .. 32              31 .. 0
 *  +-------+---------------------+---------------------------------------------+
 *  | recv  | connection's index  | number of the send, or index of the receive |
 *  +-------+---------------------+---------------------------------------------+
 * </pre>
 */
final class WorkIds {
  static final long LOW_MASK = 0xFFFF_FFFFL;
  private static final long RECEIVE = 1L << 63;

  private WorkIds() {}

  static long sends(int index) {
    return (long) index << 32;
  }

  static long receives(int index) {
    return RECEIVE | sends(index);
  }

  static int index(long id) {
    return (int) ((id & ~RECEIVE) >>> 32);
  }

  static boolean isReceive(long id) {
    return (id & RECEIVE) != 0;
  }
}
