// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults.plan;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * What is to go wrong in this process, and what came of it. Tasks arm and disarm it, the engine
 * asks it; safe for any thread.
 *
 * <p>A rule strikes only while a block is under way here: asked for, read or being located for a
 * peer, or waiting for a connection that is being made. One without end goes on once it has, which
 * is not counted.
 */
public final class Faults {
  private static final Faults HERE = new Faults();

  private final List<Armed> rules = new ArrayList<>();
  private boolean armed;
  private int underWay;
  private int clashes;

  private Faults() {}

  /** Those of this process. */
  public static Faults here() {
    return HERE;
  }

  /** Replaces all rules; counts begin at 0. */
  public synchronized void arm(List<Rule> newRules) {
    rules.clear();
    newRules.forEach(rule -> rules.add(new Armed(rule)));
    armed = true;
    clashes = 0;
  }

  /** Nothing goes wrong from now on; what has is told, also when asked again. */
  public synchronized Report disarm() {
    armed = false;
    List<Integer> hits = new ArrayList<>();
    rules.forEach(one -> hits.add(one.hits));
    return new Report(hits, rules.isEmpty() ? 0 : rules.get(0).firstMs, clashes);
  }

  /** The rule that strikes now, or null. */
  public synchronized Rule strike(Step step) {
    if (armed) {
      for (Armed one : rules) {
        if (one.rule.step() == step && one.strikes(underWay > 0)) {
          return one.rule;
        }
      }
    }
    return null;
  }

  /** So many more blocks, or requests for them, are under way; negative when they are done. */
  public synchronized void underWay(int more) {
    underWay += more;
  }

  /** A READ goes where an earlier one may still write. */
  public synchronized void clash() {
    clashes++;
  }

  private static final class Armed {
    private final Rule rule;
    private final SplittableRandom random;
    private int hits;
    private long firstMs;

    Armed(Rule rule) {
      this.rule = rule;
      random = new SplittableRandom(rule.seed());
    }

    boolean strikes(boolean inFlight) {
      if (hits == rule.most() || random.nextDouble() >= rule.chance()) {
        return false;
      }
      if (!inFlight) {
        return hits > 0 && rule.most() == Integer.MAX_VALUE;
      }
      hits++;
      firstMs = hits == 1 ? System.currentTimeMillis() : firstMs;
      return true;
    }
  }
}
