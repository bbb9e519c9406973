// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The faults to inject on a device, as data: no other code contains test branches.
 *
 * <pre>
 *  plan   = [ "executor=" name ";" ] rules   with a name only in the process that has it
 *  rules  = rule { "," rule }
 *  rule   = kind "@" n [ "+" ] [ ":" duration ]     the n-th time, or from the n-th time on
 *         | kind "%" probability [ ":" duration ]   each time with a chance between 0 and 1
 *         | "seed=" number
 *  kind   = read-error | flip-bit | hang | delay | drop-connection     counted in READs
 *         | send-error | send-hang                                     counted in SENDs and WRITEs
 *         | refuse-connect | hang-connect                              counted in connects
 *         | register-error                                             counted in registrations
 * </pre>
 *
 * <p>As in {@code read-error@100,flip-bit@7,delay@3:200ms,seed=42}. Only {@code delay} takes a
 * duration. Counts are of one open device; equal plans and equal orders of operations give equal
 * faults. Safe for any thread.
 */
final class FaultPlan {
  /** Kinds of faults. */
  enum Kind {
    READ_ERROR,
    FLIP_BIT,
    HANG,
    DELAY,
    DROP_CONNECTION,
    SEND_ERROR,
    SEND_HANG,
    REFUSE_CONNECT,
    HANG_CONNECT,
    REGISTER_ERROR
  }

  private static final Pattern RULE =
      Pattern.compile("([a-z-]+)(?:@([1-9][0-9]{0,17})(\\+?)|%([0-9.]{1,20}))(?::(.+))?");
  private static final Pattern PROCESS = Pattern.compile("executor=([^;,]+);(.+)");
  private static final String SEED = "seed=";

  private final List<Rule> rules;
  private final SplittableRandom random;
  private final Map<Kind, Long> counts = new EnumMap<>(Kind.class);

  private FaultPlan(List<Rule> rules, long seed) {
    this.rules = rules;
    random = new SplittableRandom(seed);
  }

  /**
   * The rules of a plan that hold in a process, checked.
   *
   * @param plan as above; empty for no faults
   * @param process its name
   * @return empty when the plan is for another process
   * @throws IllegalArgumentException with the reason when the text is no plan
   */
  static String rulesFor(String plan, String process) {
    Matcher named = PROCESS.matcher(plan);
    boolean forOne = named.matches();
    String rules = forOne ? named.group(2) : plan;
    parse(rules);
    return !forOne || named.group(1).equals(process) ? rules : "";
  }

  /**
   * Parses rules; all counts begin at 0.
   *
   * @param text rules as above; empty for no faults
   * @throws IllegalArgumentException with the reason when the text is no list of rules
   */
  static FaultPlan parse(String text) {
    List<Rule> rules = new ArrayList<>();
    long seed = 0;
    for (String part : text.isEmpty() ? new String[0] : text.split(",", -1)) {
      if (part.startsWith(SEED)) {
        seed = Long.parseLong(part.substring(SEED.length()));
      } else {
        rules.add(rule(part));
      }
    }
    return new FaultPlan(List.copyOf(rules), seed);
  }

  private static Rule rule(String text) {
    Matcher matcher = RULE.matcher(text);
    if (!matcher.matches()) {
      throw new IllegalArgumentException("no fault rule: " + text);
    }
    Kind kind = Kind.valueOf(matcher.group(1).toUpperCase(Locale.ROOT).replace('-', '_'));
    String duration = matcher.group(5);
    if ((kind == Kind.DELAY) != (duration != null)) {
      throw new IllegalArgumentException("delay needs a duration, other kinds take none: " + text);
    }
    long durationNs = duration == null ? 0 : SoftSettings.durationNs(duration);
    if (matcher.group(2) != null) {
      long n = Long.parseLong(matcher.group(2));
      return new Rule(kind, n, !matcher.group(3).isEmpty(), 0, durationNs);
    }
    double chance = Double.parseDouble(matcher.group(4));
    if (chance > 1) {
      throw new IllegalArgumentException("a chance is at most 1: " + text);
    }
    return new Rule(kind, 0, false, chance, durationNs);
  }

  /** Whether the plan has any rule. */
  boolean isActive() {
    return !rules.isEmpty();
  }

  /** Counts an operation that this kind of fault can affect; true when it must fail. */
  boolean fires(Kind kind) {
    return isActive() && firingRule(kind) != null;
  }

  /** Counts a READ and returns its delay; 0 for none. */
  long delayNs() {
    Rule rule = isActive() ? firingRule(Kind.DELAY) : null;
    return rule == null ? 0 : rule.durationNs;
  }

  /**
   * Counts a completed READ and chooses the bit of its data to flip.
   *
   * @return the number of the bit, counted from the first byte; -1 for none
   */
  synchronized long bitToFlip(long lengthBytes) {
    return lengthBytes > 0 && fires(Kind.FLIP_BIT) ? random.nextLong(lengthBytes * Byte.SIZE) : -1;
  }

  private synchronized Rule firingRule(Kind kind) {
    long count = counts.merge(kind, 1L, Long::sum);
    Rule firing = null;
    for (Rule rule : rules) {
      if (rule.kind == kind && (rule.matches(count) || rule.chance > random.nextDouble())) {
        firing = rule;
      }
    }
    return firing;
  }

  private record Rule(Kind kind, long n, boolean andLater, double chance, long durationNs) {
    boolean matches(long count) {
      return n > 0 && (count == n || (andLater && count > n));
    }
  }
}
