// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft.shared;

import java.util.Set;
import org.sparkrdma.verbs.AccessFlag;

/** Access flags as bits of an int, as in the shared table. */
public final class AccessBits {
  public static final int LOCAL_WRITE = bit(AccessFlag.LOCAL_WRITE);
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
      case ON_DEMAND, RELAXED_ORDERING -> 0;
    };
  }
}
