// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.faults;

/**
 * An argument of a {@link ScriptedCase} that says what happens; as text it is what the device does.
 */
public interface DeviceCase {
  /** The reaction of the plug-in, as text. */
  String plugIn();

  /** The way of the blocks, as text. */
  String answers();
}
