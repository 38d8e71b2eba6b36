plugins {
    id("com.android.application")
}

android {
    namespace = "org.example.digitreader"
    compileSdk = 34

    defaultConfig {
        applicationId = "org.example.digitreader"
        minSdk = 21
        targetSdk = 34
        versionCode = 1
        versionName = "1.0"
        ndk {
            abiFilters += listOf("arm64-v8a", "armeabi-v7a", "x86_64")
        }
        externalNativeBuild {
            cmake {
                arguments += "-DANDROID_STL=c++_static" // of the app's own code: the library of the archive needs none
            }
        }
    }

    compileOptions {
        sourceCompatibility = JavaVersion.VERSION_1_8
        targetCompatibility = JavaVersion.VERSION_1_8
    }

    buildFeatures {
        prefab = true // the archive's headers and libraries for CMake: find_package(digits)
    }

    externalNativeBuild {
        cmake {
            path = file("src/main/cpp/CMakeLists.txt")
        }
    }

    androidResources {
        noCompress += listOf("pb", "data") // so that models can be mapped where they stand
    }
}

dependencies {
    implementation(files("libs/digits.aar"))
}
