// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CommonConfigurationKeysPublic;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.LogAggregationStatus;
import org.apache.hadoop.yarn.client.cli.LogsCLI;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.MiniYARNCluster;
import org.apache.hadoop.yarn.server.api.AuxiliaryService;
import org.apache.hadoop.yarn.webapp.util.WebServiceClient;
import org.apache.spark.deploy.yarn.Client;
import org.apache.spark.network.yarn.YarnShuffleService;

/**
 * Hadoop in this JVM: HDFS, a ResourceManager and one NodeManager or two, whose containers are
 * processes of this machine. A single one has Spark's shuffle service. A NodeManager ends
 * containers that use more than their memory. Closed by its creator, which ends all containers.
 */
final class MiniYarn implements AutoCloseable {
  /** Half of it holds an ApplicationMaster and one executor, not two executors. */
  private static final int MIB = 8192;

  private static final int ALLOCATION_MIB = 256;
  private static final int START_MS = 60_000;
  private static final Duration END_GRACE = Duration.ofSeconds(5);
  private static final long POLL_MS = 100;
  private static final int POLLS = 600;

  private final MiniDFSCluster files;
  private final MiniYARNCluster yarn;
  private final Path hadoopConf;

  private MiniYarn(MiniDFSCluster files, MiniYARNCluster yarn, Path hadoopConf) {
    this.files = files;
    this.yarn = yarn;
    this.hadoopConf = hadoopConf;
  }

  /**
   * Starts it.
   *
   * @param directory for its files
   * @param nodeOptions options of the JVMs in the containers of each node, all in one word
   * @param shuffleServicePort of the shuffle service of a single node
   */
  static MiniYarn start(Path directory, List<String> nodeOptions, int shuffleServicePort)
      throws Exception {
    int nodes = nodeOptions.size();
    // The clusters put files below this folder, and not below the working directory.
    System.setProperty("test.build.data", directory.resolve("data").toString());
    MiniDFSCluster files =
        new MiniDFSCluster.Builder(new Configuration(), directory.resolve("hdfs").toFile())
            .numDataNodes(1)
            .build();
    MiniYARNCluster yarn = new MiniYARNCluster("yarn", 1, nodes, 1, 1);
    MiniYarn started =
        new MiniYarn(files, yarn, Files.createDirectory(directory.resolve("hadoop-conf")));
    try {
      files.waitActive();
      Configuration conf = configuration(files);
      conf.setInt(YarnConfiguration.YARN_MINICLUSTER_NM_PMEM_MB, MIB / nodes);
      if (nodes == 1) {
        conf.set(YarnConfiguration.NM_AUX_SERVICES, "spark_shuffle");
        conf.setClass(
            YarnConfiguration.NM_AUX_SERVICES + ".spark_shuffle.class",
            YarnShuffleService.class,
            AuxiliaryService.class);
        conf.setInt("spark.shuffle.service.port", shuffleServicePort);
      }
      yarn.init(conf);
      for (int node = 0; node < nodes; node++) {
        yarn.getNodeManager(node)
            .getConfig()
            .set(YarnConfiguration.NM_ADMIN_USER_ENV, environment(nodeOptions.get(node)));
      }
      yarn.start();
      if (!yarn.waitForNodeManagersToConnect(START_MS)) {
        throw new IllegalStateException("NodeManagers have not registered in time");
      }
      for (String name : List.of("core-site.xml", "yarn-site.xml")) {
        try (OutputStream out = Files.newOutputStream(started.hadoopConf.resolve(name))) {
          yarn.getConfig().writeXml(out);
        }
      }
      return started;
    } catch (Throwable e) {
      started.close();
      throw e;
    }
  }

  private static Configuration configuration(MiniDFSCluster files) {
    Configuration conf = new YarnConfiguration();
    conf.set(CommonConfigurationKeysPublic.FS_DEFAULT_NAME_KEY, files.getURI().toString());
    conf.setBoolean(YarnConfiguration.YARN_MINICLUSTER_CONTROL_RESOURCE_MONITORING, true);
    conf.setInt(YarnConfiguration.RM_SCHEDULER_MINIMUM_ALLOCATION_MB, ALLOCATION_MIB);
    conf.setBoolean(YarnConfiguration.NM_PMEM_CHECK_ENABLED, true);
    // By default the check leaves it to control groups, which these containers do not have.
    conf.setBoolean(YarnConfiguration.NM_MEMORY_RESOURCE_ENFORCED, false);
    // The address space of a JVM with a small heap is many times its memory.
    conf.setBoolean(YarnConfiguration.NM_VMEM_CHECK_ENABLED, false);
    conf.setLong(YarnConfiguration.NM_CONTAINER_MON_INTERVAL_MS, POLL_MS);
    conf.setLong(YarnConfiguration.RM_NM_HEARTBEAT_INTERVAL_MS, POLL_MS);
    conf.setBoolean(YarnConfiguration.LOG_AGGREGATION_ENABLED, true);
    conf.setFloat(YarnConfiguration.NM_MAX_PER_DISK_UTILIZATION_PERCENTAGE, 100);
    // The jar of the cluster lacks the default file of the scheduler.
    String queues = "yarn.scheduler.capacity.";
    conf.set(queues + "root.queues", "default");
    conf.set(queues + "root.default.capacity", "100");
    conf.set(queues + "root.default.maximum-capacity", "100");
    conf.set(queues + "maximum-am-resource-percent", "1");
    return conf;
  }

  private static String environment(String options) {
    return "JAVA_HOME=" + System.getProperty("java.home") + ",JAVA_TOOL_OPTIONS=" + options;
  }

  /**
   * Runs spark-submit with the configuration of this cluster.
   *
   * @param directory for its output
   * @param sparkConf folder with spark-defaults.conf
   * @param variables more variables of its environment
   */
  SparkSubmit.Outcome submit(
      Path directory, Path sparkConf, Map<String, String> variables, List<String> arguments)
      throws Exception {
    Map<String, String> all = new HashMap<>(variables);
    all.put("HADOOP_CONF_DIR", hadoopConf.toString());
    all.put("SPARK_CONF_DIR", sparkConf.toString());
    all.put("SPARK_DIST_CLASSPATH", SparkSubmit.jarOf(Client.class));
    return SparkSubmit.run(SparkSubmit.installation().sparkHome(), directory, all, arguments);
  }

  /** Value of spark.yarn.jars: the jars of Spark for containers, on each node. */
  String jarsOfSpark() {
    return "local:%s/jars/*,local:%s"
        .formatted(SparkSubmit.installation().sparkHome(), SparkSubmit.jarOf(Client.class));
  }

  /**
   * The logs of all containers as {@code yarn logs -applicationId ID} has them, when all have
   * ended.
   */
  String logs(String applicationId) throws Exception {
    awaitLogs(ApplicationId.fromString(applicationId));
    Path out = hadoopConf.resolveSibling(applicationId);
    WebServiceClient.initialize(yarn.getConfig());
    LogsCLI command = new LogsCLI();
    command.setConf(yarn.getConfig());
    int exitCode =
        command.run(new String[] {"-applicationId", applicationId, "-out", out.toString()});
    if (exitCode != 0) {
      throw new IllegalStateException("yarn logs has failed: exitCode=" + exitCode);
    }
    StringBuilder text = new StringBuilder();
    try (Stream<Path> files = Files.walk(out)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        text.append(Files.readString(file));
      }
    }
    return text.toString();
  }

  private void awaitLogs(ApplicationId id) throws InterruptedException {
    var application = yarn.getResourceManager().getRMContext().getRMApps().get(id);
    for (int poll = 0; poll < POLLS; poll++) {
      LogAggregationStatus status = application.getLogAggregationStatusForAppReport();
      if (status == LogAggregationStatus.SUCCEEDED) {
        return;
      }
      new CountDownLatch(1).await(POLL_MS, TimeUnit.MILLISECONDS);
    }
    throw new IllegalStateException(
        String.format(Locale.ROOT, "the logs of %s are not complete", id));
  }

  /** Processes that the containers have started: their command lines name the container. */
  private static Set<ProcessHandle> containers() {
    try (Stream<ProcessHandle> descendants = ProcessHandle.current().descendants()) {
      return descendants
          .filter(process -> commandLine(process.pid()).contains("container_"))
          .collect(Collectors.toCollection(HashSet::new));
    }
  }

  /** ProcessHandle omits long ones. */
  private static String commandLine(long pid) {
    try {
      return Files.readString(
          Path.of("/proc", Long.toString(pid), "cmdline"), StandardCharsets.ISO_8859_1);
    } catch (IOException e) {
      return "";
    }
  }

  @Override
  public void close() {
    Set<ProcessHandle> containers = containers();
    try {
      yarn.stop();
    } finally {
      containers.addAll(containers());
      LiveProcesses.end(containers, END_GRACE);
      files.close();
    }
  }
}
