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
package org.sparkrdma.shuffle.serve;

/** Remote address of a range of a file; reused for each piece. Used with the server's lock. */
final class Piece {
  private long address;
  private int remoteKey;
  private int lengthBytes;

  void set(long newAddress, int newRemoteKey, int newLengthBytes) {
    address = newAddress;
    remoteKey = newRemoteKey;
    lengthBytes = newLengthBytes;
  }

  long address() {
    return address;
  }

  int remoteKey() {
    return remoteKey;
  }

  int lengthBytes() {
    return lengthBytes;
  }
}
