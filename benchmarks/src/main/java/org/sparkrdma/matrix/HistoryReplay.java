// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.matrix;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.sparkrdma.cluster.ClusterException;
import org.sparkrdma.cluster.HistoryServer;
import org.sparkrdma.cluster.StandaloneCluster;

/**
 * Replay of the one event log in the directory of a History Server: its pages and its own log.
 *
 * @param isComplete whether it shows that the application and all its jobs have ended well
 * @param tab empty without the tab
 * @param unknownEvents WARN lines about events that it does not know
 * @param errors ERROR lines
 */
record HistoryReplay(
    boolean isComplete, Optional<TabPage> tab, List<String> unknownEvents, List<String> errors) {
  private static final String EVENT = "RdmaShuffleEvent";

  /**
   * Starts a History Server of the cluster's Spark, reads its pages and ends it.
   *
   * @param name of its log
   * @param events directory with the event log of one application that has ended
   * @param jars on its class path
   */
  static HistoryReplay of(StandaloneCluster cluster, String name, Path events, List<Path> jars)
      throws ClusterException, IOException, InterruptedException {
    ObjectMapper json = new ObjectMapper();
    try (HistoryServer server = cluster.startHistoryServer(name, events, jars)) {
      String api = server.url() + "/api/v1/applications";
      JsonNode applications =
          json.readTree(WebPage.await(api, text -> text.contains("\"completed\" : true")));
      if (applications.isEmpty()) {
        return new HistoryReplay(false, Optional.empty(), List.of(), List.of());
      }
      String id = applications.path(0).path("id").asText();
      String pages = server.url() + "/history/" + id;
      boolean linked = TabPage.isLinkedFrom(WebPage.get(pages + "/jobs/"));
      Optional<TabPage> tab =
          linked ? TabPage.parse(WebPage.get(pages + "/rdma-shuffle/")) : Optional.empty();
      JsonNode jobs = json.readTree(WebPage.get(api + "/" + id + "/jobs"));
      boolean complete = !jobs.isEmpty();
      for (JsonNode job : jobs) {
        complete &= job.path("status").asText().equals("SUCCEEDED");
      }
      List<String> log = server.log();
      return new HistoryReplay(
          complete,
          tab,
          log.stream().filter(line -> line.contains(" WARN ") && line.contains(EVENT)).toList(),
          log.stream().filter(line -> line.contains(" ERROR ")).toList());
    }
  }
}
