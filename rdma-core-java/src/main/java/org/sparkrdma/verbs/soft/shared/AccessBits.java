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
package org.sparkrdma.verbs.soft.shared;

import java.util.Set;
import org.sparkrdma.verbs.AccessFlag;

/** Access flags as bits of an int, as in the shared table. */
public final class AccessBits {
  public static final int REMOTE_READ = bit(AccessFlag.REMOTE_READ);
  public static final int REMOTE_WRITE = bit(AccessFlag.REMOTE_WRITE);

  private AccessBits() {}

  public static int of(Set<AccessFlag> flags) {
    int bits = 0;
    for (AccessFlag flag : flags) {
      bits |= bit(flag);
    }
    return bits;
  }

  private static int bit(AccessFlag flag) {
    return switch (flag) {
      case LOCAL_WRITE -> 1;
      case REMOTE_WRITE -> 2;
      case REMOTE_READ -> 4;
      // The soft device pins no memory.
      case ON_DEMAND -> 0;
    };
  }
}
