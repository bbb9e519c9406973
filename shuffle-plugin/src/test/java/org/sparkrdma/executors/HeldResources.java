// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.executors;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The resources that an executor without running tasks holds, by their owner. It is the one place
 * that says which of them are leaks.
 *
 * <p>An executor that ends by SIGTERM closes nothing (see {@code RdmaRuntime}), so it keeps what it
 * owns for its life until the kernel takes it. What belongs to a fetch, of a task of its own or of
 * a peer, must be released when that task has ended. {@link #RULES} has the owner of each kind of
 * {@code LeakRecord}; a kind without a rule counts as a task's, so that a new one is not forgotten.
 *
 * <p>Not found: copies of blocks on the heap; and windows of removed shuffles, which ServingSuite
 * checks.
 */
public final class HeldResources {
  /** Owner of a resource that remains. */
  public enum Owner {
    /** A task of this executor that has ended: a leak. */
    TASK,
    /** A task of a peer: a leak, unless the peer still runs it. */
    PEER
  }

  /**
   * Resources of one kind and owner that must not remain.
   *
   * @param place kind, thread and stack of one of them
   */
  public record Leak(Owner owner, int count, String place) {}

  /**
   * An owner of resources.
   *
   * @param kind as in the record
   * @param holder the class that acquires them; empty for every class
   * @param kept number of them that the executor itself owns for its life
   * @param owner of all others
   */
  record Rule(String kind, String holder, int kept, Owner owner) {
    private boolean covers(Site site) {
      return kind.equals(site.kind()) && (holder.isEmpty() || holder.equals(site.holder()));
    }
  }

  private static final int ALL = Integer.MAX_VALUE;
  private static final String CHUNK = "chunk of a registered pool";

  static final List<Rule> RULES =
      List.of(
          // Regions of pools, idle windows, rings of queues: closed when RDMA stops, or evicted.
          new Rule("grant of pinned bytes", "", ALL, Owner.TASK),
          // Structures of a device's objects.
          new Rule("native memory", "", ALL, Owner.TASK),
          // Buffers of connections and of answers.
          new Rule(CHUNK, "org.sparkrdma.shuffle.transport.MessageBuffers", ALL, Owner.TASK),
          // The open chunk, in which the next block is placed. Others are of fetched blocks, each
          // of which has a reference to its chunks.
          new Rule(CHUNK, "org.sparkrdma.shuffle.fetch.ReceiveMemory", 1, Owner.TASK),
          new Rule("reference to a chunk", "", 0, Owner.TASK),
          new Rule("lease", "", 0, Owner.PEER));

  private static final List<String> RECORDING =
      List.of("org.sparkrdma.leak.", "org.sparkrdma.memory.");
  private static final int MAX_FRAMES = 12;

  private HeldResources() {}

  /** A resource: its kind and the class that has acquired it. */
  private record Site(String kind, String holder) {
    static Site of(Throwable acquired) {
      String kind = acquired.getMessage().replaceFirst(" acquired by thread .*", "");
      String holder =
          Arrays.stream(acquired.getStackTrace())
              .map(frame -> frame.getClassName().replaceFirst("\\$.*", ""))
              .filter(name -> RECORDING.stream().noneMatch(name::startsWith))
              .findFirst()
              .orElse("");
      return new Site(kind, holder);
    }
  }

  /** The resources that must not remain, of all that are held. */
  static List<Leak> leaks(Collection<Throwable> held) {
    Map<String, List<Throwable>> alike =
        held.stream()
            .collect(
                Collectors.groupingBy(
                    one -> Site.of(one).toString(), TreeMap::new, Collectors.toList()));
    List<Leak> leaks = new ArrayList<>();
    for (List<Throwable> group : alike.values()) {
      Site site = Site.of(group.get(0));
      Rule rule =
          RULES.stream()
              .filter(one -> one.covers(site))
              .findFirst()
              .orElse(new Rule(site.kind(), "", 0, Owner.TASK));
      if (group.size() > rule.kept()) {
        leaks.add(new Leak(rule.owner(), group.size() - rule.kept(), text(group.get(0))));
      }
    }
    return leaks;
  }

  private static String text(Throwable acquired) {
    return acquired.getMessage()
        + Arrays.stream(acquired.getStackTrace())
            .limit(MAX_FRAMES)
            .map(frame -> "\n\tat " + frame)
            .collect(Collectors.joining());
  }
}
