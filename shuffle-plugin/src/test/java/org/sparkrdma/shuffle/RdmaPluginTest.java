// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Proxy;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.SparkException;
import org.apache.spark.SparkFirehoseListener;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.rdd.ShuffledRDD;
import org.apache.spark.rpc.RpcEndpointRef;
import org.apache.spark.shuffle.ShuffleBlockResolver;
import org.apache.spark.shuffle.ShuffleManager;
import org.apache.spark.shuffle.sort.SortShuffleManager;
import org.apache.spark.sql.connect.SparkConnectPlugin;
import org.apache.spark.storage.BlockManager;
import org.apache.spark.util.RpcUtils;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.shuffle.directory.DirectoryName;
import org.sparkrdma.shuffle.driver.DriverSide;
import org.sparkrdma.shuffle.driver.ExecutorStarts;
import org.sparkrdma.shuffle.links.MissingLinks;
import org.sparkrdma.shuffle.pinned.SparkMemory;
import org.sparkrdma.shuffle.read.RdmaBlockClient;
import scala.Tuple2;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

@Tag("slow")
@Timeout(120)
class RdmaPluginTest {
  private static final String MANAGER = "spark.shuffle.manager";
  private static final String OURS = RdmaShuffleManager.class.getName();

  /** Class loader of tasks, as of a session of Spark Connect. */
  private static final ClassLoader SESSION =
      new URLClassLoader(new URL[0], RdmaPluginTest.class.getClassLoader());

  private static final String OTHER_LISTENER = SparkFirehoseListener.class.getName();

  /** Called by tasks. */
  private static RdmaPlugin.OnExecutor executor;

  @ParameterizedTest
  @ValueSource(strings = {"", "sort", "org.sparkrdma.shuffle.RdmaShuffleManager"})
  void shouldSetTheManagerOnlyWhereNobodyHas(String configured) {
    SparkConf conf = conf();
    if (!configured.isEmpty()) {
      conf.set(MANAGER, configured);
    }
    try (CapturedLog log = new CapturedLog();
        JavaSparkContext spark = new JavaSparkContext(conf)) {
      assertThat(sums(spark)).hasSize(7);
      assertThat(SparkEnv.get().shuffleManager().getClass())
          .isEqualTo(
              configured.equals("sort") ? SortShuffleManager.class : RdmaShuffleManager.class);
      assertThat(spark.getConf().get(MANAGER, "")).isEqualTo(configured);
      assertThat(spark.getConf().contains("spark.extraListeners")).isFalse();
      assertThat(log.warnings()).isEmpty();
    }
  }

  @Test
  void shouldLeaveNothingInAConfThatIsUsedAgain() {
    SparkConf conf = conf().set("spark.extraListeners", OTHER_LISTENER);
    for (int i = 0; i < 10; i++) {
      try (JavaSparkContext spark = new JavaSparkContext(conf)) {
        conf = spark.getConf();
        assertThat(conf.get("spark.extraListeners")).isEqualTo(OTHER_LISTENER);
        ClassTag<ExecutorStarts> starts = ClassTag$.MODULE$.apply(ExecutorStarts.class);
        assertThat(spark.sc().listenerBus().findListenersByClass(starts).size()).isEqualTo(1);
        assertThat(conf.contains(MANAGER)).as("looks like the user's choice").isFalse();
      }
    }
  }

  @Test
  void shouldKeepTheManagerWithTheNameThatSparkRdmaUsed() {
    String name = "org.apache.spark.shuffle.rdma.RdmaShuffleManager";
    try (JavaSparkContext spark = new JavaSparkContext(conf().set(MANAGER, name))) {
      assertThat(sums(spark)).hasSize(7);
      assertThat(SparkEnv.get().shuffleManager().getClass().getName()).isEqualTo(name);
    }
  }

  /**
   * A manager that the user names, as Comet needs, or that another plug-in sets, as RAPIDS does.
   */
  @ParameterizedTest
  @CsvSource({
    "true,  OURS",
    "false, 'OTHER, OURS'",
    "false, 'OURS, OTHER'",
    "false, 'OURS, OTHER, OTHER'",
  })
  void shouldStartTheDriversPartsOnceBesideAnotherManager(boolean byUser, String order) {
    String plugins =
        order
            .replace("OURS", RdmaPlugin.class.getName())
            .replace("OTHER", SettingPlugin.class.getName());
    SparkConf conf = conf().set("spark.plugins", plugins);
    if (byUser) {
      conf.set(MANAGER, OtherShuffleManager.class.getName());
    }
    assertStartedOnce(conf, OtherShuffleManager.class);
  }

  /** As on Spark 3.5, where no environment is set yet when the manager is created. */
  @Test
  void shouldOpenTheDirectoryWithTheFirstShuffleWhereTheManagerIsCreatedFirst() {
    try (JavaSparkContext spark = new JavaSparkContext(LocalSpark.conf(2))) {
      SparkConf conf = spark.getConf().set(MANAGER, OURS);
      RdmaShuffleManager manager = new RdmaShuffleManager(conf, true);
      assertThatThrownBy(() -> directoryOf(conf)).isInstanceOf(SparkException.class);
      var pairs =
          spark.parallelize(List.of(1), 1).mapToPair(number -> new Tuple2<>(number, number));
      ClassTag<Integer> tag = ClassTag$.MODULE$.apply(Integer.class);
      ShuffledRDD<Integer, Integer, Integer> shuffled =
          new ShuffledRDD<>(pairs.rdd(), new HashPartitioner(4), tag, tag, tag);
      manager.registerShuffle(7, (ShuffleDependency<?, ?, ?>) shuffled.getDependencies().head());
      assertThat(directoryOf(conf)).isNotNull();
      manager.stop();
    }
  }

  /** As on Spark 3.5 where no manager is set. */
  @Test
  void shouldHaveTheDriversSideBesideAManagerThatIsThereBefore() {
    try (JavaSparkContext spark = new JavaSparkContext(LocalSpark.conf(2))) {
      DriverPlugin plugin = new RdmaPlugin().driverPlugin();
      assertThat(plugin.init(spark.sc(), null)).containsEntry("setsManager", "false");
      assertThat(directoryOf(spark.sc().conf())).isNotNull();
      plugin.registerMetrics("", null);
      assertThat(RdmaShuffleManager.OFFERED).hasValue(null);
      assertThat(spark.sc().conf().contains(MANAGER)).isFalse();
      plugin.shutdown();
    }
  }

  /** On Spark 4 the environment is there when an executor creates the manager, on 3.5 not yet. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldStartTheRuntimeWithTheManagerOrWithTheFirstReader(boolean hasEnvironment) {
    try (JavaSparkContext spark = new JavaSparkContext(other(SortShuffleManager.class))) {
      SparkConf conf = spark.sc().conf();
      if (!hasEnvironment) {
        conf = conf.clone().set("spark.app.name", "before its environment");
      }
      RdmaShuffleManager manager = new RdmaShuffleManager(conf, false);
      assertThat(hasRuntime()).isEqualTo(hasEnvironment);
      assertThat(manager.blockStoreClient()).isInstanceOf(RdmaBlockClient.class);
      assertThat(hasRuntime()).isTrue();
      manager.stop();
    }
  }

  private static boolean hasRuntime() {
    return Thread.getAllStackTraces().keySet().stream()
        .anyMatch(thread -> thread.getName().equals("rdma-control"));
  }

  /** As another plug-in behind it that sets no manager: then readers use the client. */
  @ParameterizedTest
  @CsvSource({"true, OURS", "true, 'IDLE,OURS,'", "true, 'OURS,CONNECT'", "false, 'OURS,IDLE'"})
  void shouldSetTheManagerOnlyAsTheLastPlugin(boolean sets, String order) {
    String plugins =
        order
            .replace("OURS", RdmaPlugin.class.getName())
            .replace("CONNECT", SparkConnectPlugin.class.getName())
            .replace("IDLE", IdlePlugin.class.getName());
    assertStartedOnce(
        conf().set("spark.plugins", plugins),
        sets ? RdmaShuffleManager.class : SortShuffleManager.class);
  }

  private static void assertStartedOnce(SparkConf conf, Class<?> manager) {
    List<String> lines;
    try (CapturedLog log = CapturedLog.fromInfo("org.sparkrdma")) {
      try (JavaSparkContext spark = new JavaSparkContext(conf)) {
        assertThat(sums(spark)).hasSize(7);
        assertThat(SparkEnv.get().shuffleManager().getClass()).isEqualTo(manager);
        assertThat(directoryOf(SparkEnv.get().conf())).isNotNull();
        assertThat(RdmaShuffleManager.OFFERED).hasValue(null);
      }
      lines = log.warnings();
    }
    assertThat(lines).filteredOn(line -> line.startsWith("Shuffle of this app")).hasSize(1);
    assertThat(lines)
        .filteredOn(line -> line.startsWith("The shuffle manager is " + manager.getName()))
        .hasSize(manager == RdmaShuffleManager.class ? 0 : 1);
  }

  private static RpcEndpointRef directoryOf(SparkConf conf) {
    return RpcUtils.makeDriverRef(
        DirectoryName.of(conf), SparkEnv.get().conf(), SparkEnv.get().rpcEnv());
  }

  /** Sets its own manager where none is set, as RAPIDS does from Spark 4.0 on. */
  public static final class SettingPlugin implements SparkPlugin {
    @Override
    public DriverPlugin driverPlugin() {
      return new DriverPlugin() {
        @Override
        public Map<String, String> init(SparkContext starting, PluginContext plugin) {
          if (!starting.conf().contains(MANAGER)) {
            starting.conf().set(MANAGER, OtherShuffleManager.class.getName());
          }
          return Map.of();
        }
      };
    }

    @Override
    public ExecutorPlugin executorPlugin() {
      return null;
    }
  }

  /** Sets nothing either, but this plug-in does not know that. */
  public static final class IdlePlugin extends SparkConnectPlugin {}

  @Test
  void shouldRefuseModeRequiredWithAnotherManager() {
    SparkConf conf = other(OtherShuffleManager.class).set("spark.shuffle.rdma.mode", "required");
    assertThatThrownBy(() -> new JavaSparkContext(conf).close())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("spark.shuffle.rdma.mode=required is possible only with")
        .hasMessageContaining(OURS);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldReplaceTheClientFromTheFirstTaskToTheEnd(boolean wraps) {
    try (JavaSparkContext spark = new JavaSparkContext(other(OtherShuffleManager.class))) {
      BlockManager blocks = SparkEnv.get().blockManager();
      BlockStoreClient client = blocks.blockStoreClient();
      executor =
          wraps
              ? beside(
                  proxy(Wrapping.class, SparkEnv.get().shuffleManager().shuffleBlockResolver()))
              : new RdmaPlugin.OnExecutor();
      runTasks(spark);
      BlockStoreClient replaced = blocks.blockStoreClient();
      assertThat(replaced).isInstanceOf(RdmaBlockClient.class);
      runTasks(spark);
      assertThat(blocks.blockStoreClient()).isSameAs(replaced);
      assertThat(Thread.getAllStackTraces().keySet())
          .filteredOn(thread -> thread.getName().startsWith("rdma-"))
          .isNotEmpty()
          .noneMatch(thread -> thread.getContextClassLoader() == SESSION);
      executor.shutdown();
      executor.shutdown();
      assertThat(blocks.blockStoreClient()).isSameAs(client);
      runTasks(spark);
      assertThat(blocks.blockStoreClient()).isSameAs(client);
    }
  }

  /** A Java that refuses to write a final field throws this. */
  @Test
  void shouldWarnOnceAndKeepSparksClientWhereItCannotBeReplaced() {
    assertKept(
        other(OtherShuffleManager.class),
        new RdmaPlugin.OnExecutor() {
          @Override
          void setClient(BlockManager of, BlockStoreClient client) throws IllegalAccessException {
            throw new IllegalAccessException("final field has no write access");
          }
        },
        OtherShuffleManager.class.getName(),
        "final field has no write access");
  }

  /** As where Spark has given the field of the client another name. */
  @Test
  void shouldWarnOnceAndKeepSparksClientWhereItsFieldIsMissing() {
    RdmaPlugin.OnExecutor broken =
        new RdmaPlugin.OnExecutor() {
          @Override
          void setClient(BlockManager of, BlockStoreClient client) {
            throw new NoSuchFieldError("gone");
          }
        };
    assertKept(other(OtherShuffleManager.class), broken, "Spark 4.2.0", "gone");
  }

  @Test
  void shouldWarnOnceAndKeepSparksClientWithOutputsInOtherFiles() {
    assertKept(
        other(OtherShuffleManager.class),
        beside(proxy(ShuffleBlockResolver.class, null)),
        "NoSuchMethodException");
  }

  /** As where only executors have another Spark: the driver learns it without a runtime. */
  @Test
  void shouldWarnOnceAndInformTheDriverWhereAMethodOfSparkIsMissing() {
    RdmaPlugin.OnExecutor broken =
        new RdmaPlugin.OnExecutor() {
          @Override
          ShuffleManager managerOf(SparkEnv env) {
            throw new NoSuchMethodError("gone");
          }
        };
    assertKept(other(SortShuffleManager.class), broken, "Spark 4.2.0", "gone");
  }

  /** It is one of a driver's own; its executors, which start later, do not look for a directory. */
  @Test
  void shouldSetNoDirectoryWhereTheDriverLacksAMethod() {
    SparkConf conf = conf();
    MissingLinks missing = MissingLinks.onDriver();
    new DriverSide(conf, RdmaPlugin.class, missing);
    assertThat(conf.contains(DirectoryName.KEY)).isTrue();
    assertThat(missing.take(new NoSuchMethodError("gone"))).isTrue();
    assertThat(conf.contains(DirectoryName.KEY)).isFalse();
    new DriverSide(conf, RdmaPlugin.class, missing).begin();
    assertThat(conf.contains(DirectoryName.KEY)).isFalse();
    conf.set("spark.shuffle.rdma.mode", "required");
    assertThatThrownBy(() -> new DriverSide(conf, RdmaPlugin.class, missing))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContainingAll("required", "Spark 4.2.0", "gone");
  }

  /** Executors with a ResourceProfile do not see it otherwise. */
  @Test
  void shouldSendTheMemoryOfTheApplicationToExecutors() {
    SparkConf conf = conf().set("spark.executor.memory", "3g");
    new DriverSide(conf, RdmaPlugin.class, MissingLinks.onDriver());
    assertThat(conf.get(SparkMemory.APPLICATION_MEMORY)).isEqualTo("3g");
  }

  /** Its server is a program of Java for Spark, and so are its executors. */
  @Test
  void shouldTellExecutorsOfSparkConnectThatTheyMayRunPython() {
    String command = System.getProperty("sun.java.command");
    SparkConf conf = conf();
    new DriverSide(conf, RdmaPlugin.class, MissingLinks.onDriver());
    assertThat(conf.contains(SparkMemory.SERVES_PYTHON)).isFalse();
    try {
      System.setProperty(
          "sun.java.command",
          "org.apache.spark.deploy.SparkSubmit --class"
              + " org.apache.spark.sql.connect.service.SparkConnectServer spark-internal");
      new DriverSide(conf, RdmaPlugin.class, MissingLinks.onDriver());
    } finally {
      System.setProperty("sun.java.command", command);
    }
    assertThat(conf.get(SparkMemory.SERVES_PYTHON)).isEqualTo("true");
  }

  /** Comet's native writer stores plain files although Spark encrypts its own. */
  @Test
  void shouldNotReadFilesOfOthersWhereSparkEncryptsItsNetwork() {
    SparkConf conf =
        other(OtherShuffleManager.class)
            .set("spark.authenticate", "true")
            .set("spark.authenticate.secret", "of a test")
            .set("spark.network.crypto.enabled", "true")
            .set("spark.io.encryption.enabled", "true");
    assertKept(conf, beside(null), "spark.shuffle.rdma.fabric.trusted=true");
  }

  private static void assertKept(SparkConf conf, RdmaPlugin.OnExecutor plugin, String... reasons) {
    try (CapturedLog log = new CapturedLog();
        JavaSparkContext spark = new JavaSparkContext(conf)) {
      BlockStoreClient client = SparkEnv.get().blockManager().blockStoreClient();
      executor = plugin;
      PluginContext context =
          (PluginContext)
              Proxy.newProxyInstance(
                  SESSION,
                  new Class<?>[] {PluginContext.class},
                  (proxy, method, none) -> method.getName().equals("conf") ? spark.getConf() : "1");
      executor.init(context, Map.of("setsManager", "true"));
      runTasks(spark);
      runTasks(spark);
      // The second is the driver's, which may be asked without a wait.
      while (log.warnings().size() < 2) {
        Thread.onSpinWait();
      }
      executor.shutdown();
      assertThat(SparkEnv.get().blockManager().blockStoreClient()).isSameAs(client);
      assertThat(log.warnings())
          .hasSize(2)
          .allMatch(line -> Stream.of(reasons).allMatch(line::contains))
          .first()
          .asString()
          .startsWith("RDMA is not used in this executor, its shuffle reads use TCP: ");
    }
  }

  @Test
  void shouldUseNothingWhenTheModeIsOff() {
    SparkConf conf = other(OtherShuffleManager.class).set("spark.shuffle.rdma.mode", "off");
    try (CapturedLog log = new CapturedLog();
        JavaSparkContext spark = new JavaSparkContext(conf)) {
      BlockStoreClient client = SparkEnv.get().blockManager().blockStoreClient();
      executor = new RdmaPlugin.OnExecutor();
      runTasks(spark);
      assertThat(SparkEnv.get().blockManager().blockStoreClient()).isSameAs(client);
      executor.shutdown();
      assertThat(log.warnings()).isEmpty();
    }
  }

  private static void runTasks(JavaSparkContext spark) {
    spark
        .parallelize(List.of(1, 2), 2)
        .foreach(
            number -> {
              Thread.currentThread().setContextClassLoader(SESSION);
              executor.onTaskStart();
            });
  }

  private static SparkConf other(Class<? extends ShuffleManager> manager) {
    return conf().set(MANAGER, manager.getName()).set("spark.shuffle.rdma.engine", "soft");
  }

  private static SparkConf conf() {
    return LocalSpark.conf(2).set("spark.plugins", RdmaPlugin.class.getName());
  }

  private static List<Tuple2<Integer, Integer>> sums(JavaSparkContext spark) {
    return spark
        .parallelize(IntStream.range(0, 1_000).boxed().toList(), 3)
        .mapToPair(number -> new Tuple2<>(number % 7, number))
        .reduceByKey(Integer::sum, 4)
        .collect();
  }

  /** Another shuffle manager than the plug-in's, which writes Spark's files. */
  public static final class OtherShuffleManager extends SortShuffleManager {
    /** Called by Spark. */
    public OtherShuffleManager(SparkConf conf) {
      super(conf);
    }
  }

  /** A resolver that wraps Spark's, as that of RAPIDS does. */
  private interface Wrapping extends ShuffleBlockResolver {
    ShuffleBlockResolver wrapped();
  }

  /** The part of an executor whose manager is none of Spark's and has this resolver. */
  private static RdmaPlugin.OnExecutor beside(ShuffleBlockResolver resolver) {
    return new RdmaPlugin.OnExecutor() {
      @Override
      ShuffleManager managerOf(SparkEnv env) {
        return proxy(ShuffleManager.class, resolver);
      }
    };
  }

  /** Each of its methods returns this. */
  private static <T> T proxy(Class<T> type, Object result) {
    return type.cast(
        Proxy.newProxyInstance(
            RdmaPluginTest.class.getClassLoader(),
            new Class<?>[] {type},
            (self, method, none) -> result));
  }
}
