// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.shuffle.ShuffleManager;
import org.apache.spark.shuffle.sort.SortShuffleManager;
import org.apache.spark.storage.BlockManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.driver.DriverSide;
import org.sparkrdma.shuffle.links.LinkCheck;
import org.sparkrdma.shuffle.links.LinkPart;
import org.sparkrdma.shuffle.links.MissingLinks;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.runtime.RdmaRuntime;
import org.sparkrdma.shuffle.settings.RdmaPolicy;
import org.sparkrdma.shuffle.settings.ShuffleSetting;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.spark.OtherManager;

/**
 * The class for {@code spark.plugins}, the only line that a user must write.
 *
 * <p>Spark 3.5 creates the shuffle manager before plug-ins, Spark 4 after them. What follows:
 *
 * <table>
 *   <caption>Who starts what</caption>
 *   <tr><th></th><th>Spark 3.5</th><th>Spark 4</th></tr>
 *   <tr><td>driver, {@link RdmaShuffleManager} is set</td>
 *     <td>the manager's side opens the directory with the first shuffle</td>
 *     <td>the plug-in opens it, and offers its side to the manager</td></tr>
 *   <tr><td>driver, no manager is set</td>
 *     <td>Spark's manager stays, the plug-in has the side</td>
 *     <td>the plug-in sets the manager, if it is the last plug-in</td></tr>
 *   <tr><td>executor, {@link RdmaShuffleManager}</td>
 *     <td>the runtime starts with the first writer or reader</td>
 *     <td>it starts with the manager</td></tr>
 *   <tr><td>executor, another manager, which must keep its map outputs in Spark's own files</td>
 *     <td>the first task replaces the client through which readers fetch</td>
 *     <td>the same</td></tr>
 * </table>
 */
public final class RdmaPlugin implements SparkPlugin {
  private static final Logger LOG = LoggerFactory.getLogger(RdmaPlugin.class);

  private static final String MANAGER = "spark.shuffle.manager";
  private static final String CONNECT = "org.apache.spark.sql.connect.SparkConnectPlugin";

  /** Tells executors whether the driver has set the manager. */
  private static final String SETS_MANAGER = "setsManager";

  /** Id of the executor in local mode. */
  private static final String DRIVER = "driver";

  @Override
  public DriverPlugin driverPlugin() {
    return new OnDriver();
  }

  @Override
  public ExecutorPlugin executorPlugin() {
    return new OnExecutor();
  }

  /**
   * On the driver. Called by the thread that starts the context. Its side starts whatever the
   * shuffle manager will be; {@link RdmaShuffleManager} takes it over. The directory ends with
   * Spark's RPC environment, because executors' last reports come after Spark 4 has shut plug-ins
   * down.
   */
  private static final class OnDriver implements DriverPlugin {
    private final MissingLinks missing = MissingLinks.onDriver();
    private SparkContext context;

    /** Null when the shuffle manager was there before, and has one. */
    private DriverSide side;

    /** Whether this sets the plug-in's shuffle manager. */
    private boolean sets;

    /** A method or field of Spark that is missing must not end the application. */
    @Override
    public Map<String, String> init(SparkContext starting, PluginContext plugin) {
      try {
        start(starting);
      } catch (LinkageError e) {
        missing.takeOrThrow(e);
        if (isRequired(starting)) {
          throw new IllegalStateException(
              ShuffleSetting.MODE.key() + "=required and RDMA cannot start: " + e, e);
        }
      }
      return Map.of(SETS_MANAGER, Boolean.toString(sets));
    }

    private static boolean isRequired(SparkContext starting) {
      try {
        return ShuffleSettings.of(starting.conf()).mode() == ShuffleSettings.Mode.REQUIRED;
      } catch (LinkageError e) {
        LOG.debug("Spark's configuration cannot be read", e);
        return false;
      }
    }

    private void start(SparkContext starting) {
      SparkConf conf = starting.conf();
      context = starting;
      ShuffleManager created = null;
      try {
        created = OtherManager.of(starting.env());
      } catch (LinkageError e) {
        // The tab shows the reason.
        missing.takeOrThrow(e);
      }
      if (created != null && isOurs(created)) {
        return;
      }
      side = new DriverSide(conf, RdmaPlugin.class, missing);
      boolean isOurs = created == null && RdmaPolicy.isOurs(conf.get(MANAGER, ""));
      sets = created == null && isUsed() && !conf.contains(MANAGER) && isLast(conf);
      if (!sets && !isOurs) {
        refuseRequired();
      }
      side.begin();
      if (created == null) {
        RdmaShuffleManager.OFFERED.set(side);
      }
      sets &= !missing.any();
      if (sets) {
        conf.set(MANAGER, RdmaShuffleManager.class.getName());
      }
    }

    private boolean isUsed() {
      return side.settings().mode() != ShuffleSettings.Mode.OFF;
    }

    private void refuseRequired() {
      RdmaPolicy.requiredBesideAnother(side.settings())
          .ifPresent(
              refusal -> {
                throw new IllegalArgumentException(refusal);
              });
    }

    /**
     * The context has its id and its manager now. A user may use its configuration again, perhaps
     * without the plug-in, and a streaming checkpoint keeps it.
     */
    @Override
    public void registerMetrics(String applicationId, PluginContext plugin) {
      if (side == null) {
        return;
      }
      try {
        RdmaShuffleManager.OFFERED.set(null);
        SparkConf conf = context.conf();
        // Else it is one that another plug-in has set after this one.
        if (sets && RdmaPolicy.isOurs(conf.get(MANAGER, ""))) {
          conf.remove(MANAGER);
        }
        side.watch(() -> context);
        checkManager(OtherManager.of(context.env()));
      } catch (LinkageError e) {
        missing.takeOrThrow(e);
      }
    }

    private void checkManager(ShuffleManager created) {
      if (!isOurs(created) && isUsed() && !missing.any()) {
        refuseRequired();
        LOG.info(
            "The shuffle manager is {}; its readers fetch through the plug-in's client",
            created.getClass().getName());
      }
    }

    /** Executors may still report, so the directory stays. */
    @Override
    public void shutdown() {
      if (side != null) {
        RdmaShuffleManager.OFFERED.set(null);
        side.endWatch();
      }
    }
  }

  /** Another plug-in behind this one may set its own manager; that of Spark Connect does not. */
  private static boolean isLast(SparkConf conf) {
    String all = conf.get("spark.plugins.defaultList", "") + "," + conf.get("spark.plugins", "");
    List<String> names =
        Stream.of(all.split(",", -1))
            .map(String::trim)
            .filter(name -> !name.isEmpty() && !name.equals(CONNECT))
            .distinct()
            .toList();
    return !names.isEmpty() && names.get(names.size() - 1).equals(RdmaPlugin.class.getName());
  }

  /** By its name: executors of Spark 3.5 load it with another class loader than plug-ins. */
  private static boolean isOurs(ShuffleManager manager) {
    return RdmaPolicy.isOurs(manager.getClass().getName());
  }

  /**
   * On an executor. Begins with the first task, because Spark 4 creates the shuffle manager after
   * plug-ins. Called by task threads, and by the thread that stops the executor.
   */
  static class OnExecutor implements ExecutorPlugin {
    private final MissingLinks missing = MissingLinks.onExecutor(LinkPart.BESIDE);
    private boolean isLocal;
    private boolean begun;

    // Null where RDMA is not used.

    private ExecutorSide side;
    private RdmaRuntime runtime;
    private BlockManager blockManager;
    private BlockStoreClient sparkClient;

    /** Sets the manager where the driver has. */
    @Override
    public void init(PluginContext plugin, Map<String, String> ofDriver) {
      try {
        isLocal = plugin.executorID().equals(DRIVER);
        SparkConf conf = plugin.conf();
        if (Boolean.parseBoolean(ofDriver.get(SETS_MANAGER))
            && managerOf(SparkEnv.get()) == null
            && !conf.contains(MANAGER)
            && LinkCheck.missing(LinkPart.START).isEmpty()) {
          conf.set(MANAGER, RdmaShuffleManager.class.getName());
        }
      } catch (LinkageError e) {
        missing.takeOrThrow(e);
      }
    }

    /** The first tasks wait until peers can find this executor. */
    @Override
    public void onTaskStart() {
      try {
        RdmaRuntime rdma = begin();
        if (rdma != null) {
          rdma.awaitPublished().begin(TaskContext.get());
        }
      } catch (LinkageError e) {
        missing.takeOrThrow(e);
      }
    }

    /** The runtime, which the first task starts; null where RDMA is not used. */
    private synchronized RdmaRuntime begin() {
      boolean isFirst = !begun;
      begun = true;
      if (isFirst && !isLocal) {
        start(SparkEnv.get());
      }
      return runtime;
    }

    /** Without the client, the runtime only reports the reason. */
    private void start(SparkEnv env) {
      ExecutorSide created = new ExecutorSide(env.conf(), new ShuffleCounters(), missing);
      if (created.settings().mode() == ShuffleSettings.Mode.OFF) {
        return;
      }
      side = created;
      ShuffleManager manager = managerOf(env);
      if (isOurs(manager)) {
        side = null;
        return;
      }
      try {
        IndexShuffleBlockResolver resolver = replaceable(env, manager);
        runtime = created.startedRuntime(() -> resolver);
        // Spark may have a method that the client does not forward.
        missing.check();
        if (runtime != null && !missing.any()) {
          setClient(blockManager, runtime.reads().sharedClient());
          LOG.info("Readers of {} fetch by RDMA", manager.getClass().getName());
        }
      } catch (ReflectiveOperationException | RuntimeException e) {
        created.refuse("not possible with " + manager.getClass().getName() + ": " + e);
        sparkClient = null;
        runtime = created.startedRuntime(() -> null);
      }
    }

    /** The resolver of the manager's files; throws where its readers cannot use RDMA. */
    private IndexShuffleBlockResolver replaceable(SparkEnv env, ShuffleManager manager)
        throws ReflectiveOperationException {
      Optional<String> refusal =
          RdmaPolicy.plainBesideAnother(RdmaPolicy.isTrueIn(env.conf()), side.settings());
      if (!(manager instanceof SortShuffleManager) && refusal.isPresent()) {
        throw new IllegalStateException(refusal.get());
      }
      IndexShuffleBlockResolver resolver = OtherManager.resolver(manager);
      blockManager = env.blockManager();
      BlockStoreClient own = blockManager.blockStoreClient();
      // Throws where it is not allowed, before anything is started.
      setClient(blockManager, own);
      sparkClient = own;
      return resolver;
    }

    /** Same as {@link OtherManager#of}; overridden in tests. */
    ShuffleManager managerOf(SparkEnv env) {
      return OtherManager.of(env);
    }

    /** Same as {@link OtherManager#setClient}; overridden in tests. */
    void setClient(BlockManager of, BlockStoreClient client) throws ReflectiveOperationException {
      OtherManager.setClient(of, client);
    }

    /** Open reads keep the plug-in's client, which forwards to Spark's from now on. */
    @Override
    public void shutdown() {
      ExecutorSide open;
      synchronized (this) {
        begun = true;
        open = side;
        side = null;
      }
      if (open != null && sparkClient != null) {
        try {
          setClient(blockManager, sparkClient);
        } catch (ReflectiveOperationException | RuntimeException e) {
          LOG.warn("Cannot restore Spark's block client in an executor that is ending", e);
        }
      }
      if (open != null) {
        open.close();
      }
    }
  }
}
