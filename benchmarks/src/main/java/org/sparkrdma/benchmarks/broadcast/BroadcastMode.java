// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.broadcast;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** A transfer of broadcast variables to compare; the modes differ in these settings only. */
enum BroadcastMode {
  /** Spark without the plug-in. */
  TORRENT,
  /** The plug-in, which leaves broadcast variables to Spark. */
  OFF,
  /** The plug-in's pipeline of executors, by Spark's TCP. */
  TCP,
  /** The same pipeline by READ, with the defaults of {@code broadcast.mode=auto}. */
  READ;

  /** The settings; {@link #OFF} sets no {@code broadcast.mode}, so that it measures the default. */
  Map<String, String> conf() {
    Map<String, String> conf = new HashMap<>();
    String manager = this == TORRENT ? "sort" : "org.sparkrdma.shuffle.RdmaShuffleManager";
    conf.put("spark.shuffle.manager", manager);
    if (this == TCP || this == READ) {
      conf.put("spark.shuffle.rdma.broadcast.mode", this == TCP ? "tcp" : "auto");
    }
    return conf;
  }

  /**
   * The modes in the order of one round: each round begins with another one, and every second round
   * is the reverse.
   *
   * @param round from 1
   */
  static List<BroadcastMode> order(List<BroadcastMode> modes, int round) {
    List<BroadcastMode> order = new ArrayList<>(modes);
    Collections.rotate(order, -((round - 1) / 2));
    if (round % 2 == 0) {
      Collections.reverse(order);
    }
    return order;
  }

  /** The name in options, progress, table and report. */
  @JsonValue
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
