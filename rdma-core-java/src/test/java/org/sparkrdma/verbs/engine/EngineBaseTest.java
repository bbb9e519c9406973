// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.DeviceInfo;

/** The open devices of an engine. */
@Timeout(20)
class EngineBaseTest {
  private final List<String> closed = new ArrayList<>();
  private final EngineBase engine =
      new EngineBase() {
        @Override
        public String name() {
          return "named";
        }

        @Override
        public List<DeviceInfo> devices() {
          return List.of();
        }

        @Override
        public Device open(String deviceName) throws VerbsException {
          return open(
              onClosed -> {
                if (deviceName.equals("none")) {
                  throw noSuchDevice(deviceName);
                }
                return device(deviceName, onClosed);
              });
        }
      };

  /** A device that only records its close; one named {@code broken} fails to close. */
  private Device device(String name, Consumer<Device> onClosed) {
    return (Device)
        Proxy.newProxyInstance(
            Device.class.getClassLoader(),
            new Class<?>[] {Device.class},
            (device, method, arguments) ->
                switch (method.getName()) {
                  case "close" -> {
                    closed.add(name);
                    if (name.equals("broken")) {
                      throw new IllegalStateException("cannot be closed: " + name);
                    }
                    onClosed.accept((Device) device);
                    yield null;
                  }
                  case "hashCode" -> System.identityHashCode(device);
                  case "equals" -> device == arguments[0];
                  default -> throw new UnsupportedOperationException(method.getName());
                });
  }

  @Test
  void shouldCloseDevicesThatAreOpenAndNoOthers() throws VerbsException {
    Device first = engine.open("first");
    engine.open("second");
    first.close();

    engine.close();

    assertThat(closed).containsExactly("first", "second");
  }

  @Test
  void shouldCloseTheOtherDevicesWhenOneFails() throws VerbsException {
    engine.open("broken");
    engine.open("second");

    assertThatThrownBy(engine::close).hasMessage("cannot be closed: broken");
    assertThat(closed).containsExactlyInAnyOrder("broken", "second");
  }

  @Test
  void shouldOpenNoDeviceWhenItIsClosed() {
    engine.close();

    assertThatThrownBy(() -> engine.open("first"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("engine is closed");
  }

  @Test
  void shouldCloseNothingForADeviceThatIsNotThere() {
    assertThatThrownBy(() -> engine.open("none"))
        .isInstanceOf(VerbsException.class)
        .hasMessage("no such device: name=none");
    engine.close();

    assertThat(closed).isEmpty();
  }
}
