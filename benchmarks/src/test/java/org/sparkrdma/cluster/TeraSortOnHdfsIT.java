// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.ContentSummary;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The job terasort with its input and output in HDFS: a NameNode and a DataNode in this JVM. */
@Timeout(300)
@Tag("nightly")
class TeraSortOnHdfsIT {
  private static final String SIZE = "8m";

  /** Whole records of 100 bytes in 8 MiB. */
  private static final long INPUT_BYTES = 8_388_600;

  @TempDir private Path directory;

  @Test
  void shouldSortFilesOfHdfsUnderEachShuffle() throws Exception {
    Configuration configuration = new Configuration();
    try (MiniDFSCluster hdfs =
        new MiniDFSCluster.Builder(configuration, directory.resolve("hdfs").toFile())
            .numDataNodes(1)
            .build()) {
      hdfs.waitActive();
      URI data = hdfs.getURI().resolve("/benchmark");
      Path report = directory.resolve("terasort.json");

      SparkSubmit.Outcome outcome =
          SparkSubmit.runBenchmark(
              directory,
              List.of("hadoop-mapreduce-examples-3.3.4.jar"),
              report,
              List.of(
                  "terasort",
                  "--data",
                  data.toString(),
                  "--shapes",
                  SIZE,
                  "--modes",
                  "vanilla,rdma"));

      assertThat(outcome.exitCode()).as(outcome.output() + outcome.errors()).isZero();
      assertThat(outcome.output()).contains("wall s");
      JsonNode runs = new ObjectMapper().readTree(report.toFile()).at("/cases/0/runs");
      assertThat(runs).hasSize(2);
      assertThat(runs.get(0).at("/bytes/tcp").asLong()).isPositive();
      assertThat(runs.get(1).at("/bytes/read").asLong()).isPositive();
      // The input stays for the next benchmark.
      assertThat(hdfs.getFileSystem().getContentSummary(new org.apache.hadoop.fs.Path(data)))
          .returns(INPUT_BYTES, ContentSummary::getLength);
    }
  }
}
