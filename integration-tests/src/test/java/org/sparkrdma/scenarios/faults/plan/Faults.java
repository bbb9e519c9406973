// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults.plan;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.sparkrdma.faults.PauseMeter;

/**
 * The rules of this process and how often each fired. Tasks arm and disarm it; the engine queries
 * it. Safe for any thread.
 *
 * <p>A rule fires only while a block is in flight: requested or read here, being located for a
 * peer, or waiting for a connection. A rule without a maximum keeps firing after that; those are
 * not counted.
 */
public final class Faults {
  private static final Faults HERE = new Faults();

  private final List<Armed> rules = new ArrayList<>();
  private boolean armed;
  private int inFlight;
  private int queuePairs;
  private int clashes;
  private PauseMeter pauses;

  private Faults() {}

  /** The rules of this process. */
  public static Faults here() {
    return HERE;
  }

  /** Replaces all rules; counts begin at 0. */
  public synchronized void arm(List<Rule> newRules) {
    rules.clear();
    newRules.forEach(rule -> rules.add(new Armed(rule)));
    armed = true;
    clashes = 0;
    pauses = PauseMeter.start();
  }

  /** Disarms all rules and reports what fired; a second call reports the same. */
  public synchronized Report disarm() {
    armed = false;
    List<Integer> hits = new ArrayList<>();
    rules.forEach(one -> hits.add(one.hits));
    long pauseMs = 0;
    if (pauses != null) {
      pauses.stop();
      pauseMs = pauses.longestMs();
    }
    return new Report(hits, rules.isEmpty() ? 0 : rules.get(0).firstMs, clashes, pauseMs);
  }

  /** Returns the rule that fires now, or null. */
  public synchronized Rule fire(Step step) {
    if (armed) {
      for (Armed one : rules) {
        if (one.rule.step() == step && one.tryFire(inFlight > 0 || step.needsNoBlockHere())) {
          return one.rule;
        }
      }
    }
    return null;
  }

  /** Adds blocks, or requests for them, in flight; negative when they complete. */
  public synchronized void addInFlight(int count) {
    inFlight += count;
  }

  /** Adds a queue pair; negative when it is destroyed. */
  public synchronized void addQueuePairs(int count) {
    queuePairs += count;
  }

  /** Blocks and requests that are in flight. */
  public synchronized int inFlight() {
    return inFlight;
  }

  /** Queue pairs that exist. */
  public synchronized int queuePairs() {
    return queuePairs;
  }

  /** Counts a READ into memory that an earlier READ may still write. */
  public synchronized void addClash() {
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

    boolean tryFire(boolean inFlight) {
      if (hits == rule.maxFires() || random.nextDouble() >= rule.chance()) {
        return false;
      }
      if (!inFlight) {
        return hits > 0 && rule.maxFires() == Integer.MAX_VALUE;
      }
      hits++;
      firstMs = hits == 1 ? System.currentTimeMillis() : firstMs;
      return true;
    }
  }
}
