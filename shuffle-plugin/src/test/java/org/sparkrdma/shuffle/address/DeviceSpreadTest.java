// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.address;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.TransportType;

/** Executors of one host that share its devices. */
class DeviceSpreadTest extends DeviceChoiceFixture {
  @Test
  void shouldUseTheLowestOfSeveralSubnetsInAllExecutors() throws Exception {
    DeviceInfo[] two = {
      device("mlx5_0", active(1, "10.2.0.5")), device("mlx5_1", active(1, "10.1.0.200"))
    };

    assertThat(chosenBy(3, two)).containsOnly("mlx5_1");
    assertThat(choose(two).reason()).contains("in another subnet: mlx5_0", "rails.routed");
  }

  @Test
  void shouldUseTheSubnetWhereSparkListensOfTheDevicesAskedFor() throws Exception {
    devices = List.of("mlx5_0", "mlx5_1", "mlx5_2");
    sparkHost = "10.2.0.5";
    DeviceInfo[] three = {
      device("mlx5_0", active(1, "10.1.0.5")),
      device("mlx5_1", active(1, "10.2.0.5")),
      device("mlx5_2", active(1, "10.2.0.6"))
    };

    assertThat(chosenBy(3, three)).containsExactly("mlx5_1", "mlx5_2", "mlx5_1");
  }

  @Test
  void shouldSpreadExecutorsOverSubnetsThatARouterJoins() throws Exception {
    routed = true;
    DeviceInfo[] two = {
      device("mlx5_0", active(1, "10.1.0.5")), device("mlx5_1", active(1, "10.2.0.5"))
    };

    assertThat(chosenBy(4, two)).containsExactly("mlx5_0", "mlx5_1", "mlx5_0", "mlx5_1");
  }

  @Test
  void shouldSpreadExecutorsOverASubnetInWhichOneDeviceHasSparksOwnAddress() throws Exception {
    DeviceInfo[] four = {
      device("mlx5_0", active(1, SPARK)),
      device("mlx5_1", active(1, "10.0.0.6")),
      device("mlx5_2", active(1, "10.1.0.7")),
      device("mlx5_3", active(1, "fd00::8"))
    };

    assertThat(chosenBy(3, four)).containsExactly("mlx5_0", "mlx5_1", "mlx5_0");
    spread = 1;
    assertThat(choose(four).reason())
        .isEqualTo(
            "its port is active and has an address of Spark's address family, one of mlx5_0 mlx5_1;"
                + " not used, because they are in another subnet: mlx5_2 mlx5_3"
                + " (where a router joins the subnets,"
                + " spark.shuffle.rdma.rails.routed=true uses them)");
  }

  /** Executors that are started in turn on several hosts: those of a host have a common step. */
  @ParameterizedTest
  @CsvSource({"2, 2", "2, 4", "3, 3", "4, 2"})
  void shouldSpreadExecutorsWhoseNumbersHaveAStepInCommon(int step, int cards) throws Exception {
    DeviceInfo[] present = new DeviceInfo[cards];
    for (int card = 0; card < cards; card++) {
      present[card] = device("mlx5_" + card, active(1, "10.0.0." + (6 + card)));
    }
    Map<String, Integer> users = new TreeMap<>();
    for (int executor = 0; executor < 4 * cards; executor++) {
      spread = executor * step;
      users.merge(choose(present).device().name(), 1, Integer::sum);
    }
    assertThat(users.values()).hasSize(cards).allMatch(count -> count >= 2 && count <= 6);
  }

  @Test
  void shouldNotSpreadExecutorsOverDevicesThatCannotConnectToEachOther() throws Exception {
    trusted = true;
    DeviceInfo iwarp = device("cxgb4_0", TransportType.IWARP, Set.of(), active(1, "10.0.0.6"));

    assertThat(chosenBy(2, device("mlx5_0", active(1, SPARK)), iwarp)).containsOnly("mlx5_0");
  }

  @Test
  void shouldNotSpreadExecutorsOverLinksThatLookAlike() throws Exception {
    address = Optional.of("::/0");
    routed = true;
    DeviceInfo[] links = {
      device("mlx5_0", active(1, "fe80::5")), device("mlx5_1", active(1, "fe80::6"))
    };

    assertThat(chosenBy(3, links)).containsOnly("mlx5_0");
    assertThat(chosenBy(2, links[0], links[1], device("mlx5_2", active(1, "fd00::5"))))
        .as("a device with an address that names its network")
        .containsOnly("mlx5_2");
  }

  /** The numbers of a host's executors have a common step, or their process ids are equal. */
  @ParameterizedTest
  @CsvSource({"1, 0, 8", "8, 0, 8", "64, 0, 63", "0, 1, 8", "0, 7, 16", "1, 1, 1"})
  void shouldSpreadTheExecutorsOfAHostOverAllVectors(int numberStep, int pidStep, int vectors) {
    int[] executors = new int[vectors];
    for (int i = 0; i < 4_096; i++) {
      executors[DeviceChoice.completionVector(i * numberStep, -9L + (long) i * pidStep, vectors)]++;
    }
    int fair = 4_096 / vectors;
    assertThat(executors)
        .satisfies(
            each ->
                IntStream.of(each)
                    .forEach(count -> assertThat(count).isBetween(fair / 2, 2 * fair)));
  }
}
