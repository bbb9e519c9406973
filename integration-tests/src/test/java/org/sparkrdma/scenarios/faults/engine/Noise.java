// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults.engine;

import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import org.sparkrdma.scenarios.faults.plan.Rule;

/** Corrupts bytes, in the same way for the same seed. Stateless. */
final class Noise {
  private static final int NOISE_FROM = 2;
  private static final int NOISE_TO = 16;

  private Noise() {}

  /** Changes a message as the rule says. */
  static void garble(ByteBuffer message, Rule rule) {
    if (rule.argument().isEmpty()) {
      overwrite(message, NOISE_FROM, NOISE_TO, rule.seed());
    } else if (rule.argument().indexOf(':') < 0) {
      int at = Integer.parseInt(rule.argument());
      message.put(at, (byte) (message.get(at) ^ 1));
    } else {
      LocatedField.flip(message, rule.argument());
    }
  }

  /** Changes every byte of a range. */
  static void overwrite(ByteBuffer target, int from, int to, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = from; i < to; i++) {
      target.put(i, (byte) (target.get(i) ^ (1 + random.nextInt(255))));
    }
  }

  /** Changes one bit. */
  static void flipBit(ByteBuffer target, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int at = random.nextInt(target.limit());
    target.put(at, (byte) (target.get(at) ^ (1 << random.nextInt(Byte.SIZE))));
  }
}
