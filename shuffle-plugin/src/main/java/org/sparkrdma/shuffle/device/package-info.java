/**
 * Which device, port and address an executor uses: entry class {@link
 * org.sparkrdma.shuffle.device.DeviceChoice}, from what the user asked for and what the engine
 * found.
 */
package org.sparkrdma.shuffle.device;
