// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.soft.SoftProvider;
import org.sparkrdma.verbs.spi.EngineSettings;
import org.sparkrdma.verbs.spi.EngineUnavailableException;
import org.sparkrdma.verbs.spi.VerbsProvider;

/**
 * The loopback engine with READs that move no bytes: blocks that it fetches contain anything.
 *
 * <p>A real job cannot use it by accident. The jar of the plug-in does not contain it, it is used
 * only by name, and it refuses to load unless {@link #CONSENT} is set and the plug-in's
 * verification is turned off, which would find that the bytes are wrong.
 */
public final class NoCopyProvider implements VerbsProvider {
  static final String NAME = "no-copy";

  /** The setting without which it does not load. */
  static final String CONSENT = "spark.benchmark.rdma.blocksWithoutContent";

  private static final String VERIFY = "spark.shuffle.rdma.verify";
  private static final Logger LOG = LoggerFactory.getLogger(NoCopyProvider.class);

  /** Used by the service loader. */
  public NoCopyProvider() {}

  /** The settings without which it does not load. */
  static Map<String, String> conf() {
    return Map.of(CONSENT, "true", VERIFY, "false");
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public int order() {
    return -1;
  }

  @Override
  public VerbsEngine load(EngineSettings settings) throws EngineUnavailableException {
    SparkEnv env = SparkEnv.get();
    return load(settings, env == null ? new SparkConf(false) : env.conf());
  }

  /** The same in an executor with this configuration. */
  VerbsEngine load(EngineSettings settings, SparkConf conf) throws EngineUnavailableException {
    if (!conf.getBoolean(CONSENT, false) || conf.getBoolean(VERIFY, true)) {
      throw new EngineUnavailableException(
          "this engine moves no bytes and is for ./bench transfer --ceiling only; it needs %s=true and %s=false"
              .formatted(CONSENT, VERIFY));
    }
    LOG.warn(
        "Blocks that are fetched by RDMA have no content: READs of engine {} move no bytes", NAME);
    return SoftProvider.loadWithoutCopy(settings);
  }
}
