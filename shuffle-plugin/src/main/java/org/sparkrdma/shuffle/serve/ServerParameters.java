// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.util.function.Consumer;
import org.sparkrdma.memory.OpenDevice;
import org.sparkrdma.shuffle.device.DeviceFitness;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.output.MapOutputs;
import org.sparkrdma.shuffle.settings.ServeSettings;

/**
 * Constructor parameters of a {@link BlockServer}, which owns none of these objects.
 *
 * @param device without {@link org.sparkrdma.verbs.device.Capability#FILE_REGIONS} no windows are
 *     registered, whatever the mode
 * @param agent runs a command on the agent's thread soon; safe for any thread
 */
public record ServerParameters(
    ServeSettings settings,
    MapOutputs outputs,
    OpenDevice device,
    ShuffleCounters counters,
    Consumer<Runnable> agent) {

  /** What follows from what the device can do. */
  DeviceFitness fitness() {
    return new DeviceFitness(device.device().info());
  }
}
